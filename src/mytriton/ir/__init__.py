"""The intermediate representation: types, the op table, nodes, the builder, the checker and the
text forms."""

from . import elementwise as _elementwise
from . import libdevice_rows as _libdevice
from . import regions as _regions
from . import structural as _structural

del _elementwise, _libdevice, _regions, _structural
