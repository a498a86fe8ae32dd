/* Runs examples/vector_add.py's kernel without Python.

   mytriton export examples/vector_add.py::add_kernel --sig 'BLOCK=256' -o build
   cc -Ibuild examples/export/main.c build/add_kernel.o -o build/main -lpthread -lm
   build/main */
#include <stdio.h>
#include <stdlib.h>

#include "add_kernel.h"

int main(void) {
    const int32_t n = 1000000, block = 256;
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *out = malloc(n * sizeof *out);
    if (!x || !y || !out) return 1;
    for (int32_t i = 0; i < n; i++) {
        x[i] = (float)i;
        y[i] = 0.5f;
    }
    int code = add_kernel((n + block - 1) / block, 1, 1, 4, x, y, out, n);
    for (int32_t i = 0; i < n && !code; i++)
        if (out[i] != (float)i + 0.5f) return 2;
    if (code)
        printf("%s\n", add_kernel_message(code));
    else
        printf("%d elements added, the last is %.1f\n", n, out[n - 1]);
    free(x);
    free(y);
    free(out);
    return code != 0;
}
