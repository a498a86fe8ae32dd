extern "C" __global__
void checked(int* x, int n) {
    // %0 = arange {start=0, end=16} : vector<16 x i32>
    int v0 = threadIdx.x;
    // %1 = addptr x, %0 : vector<16 x ptr<i32>>
    // %2 = cmp_lt %0, n : vector<16 x bool>
    bool v2 = (v0 < n);
    // %3 = load %1, %2, 0 : vector<16 x i32>
    int v3 = (v2 ? x[v0] : 0);
    // %4 = cmp_ge %3, 0 : vector<16 x bool>
    bool v4 = (v3 >= 0);
    // assert %4, %2 {message="all of \"x\" is 100% positive"}
    if (v2 && !v4) {
    }
    // %5 = add %3, 1 : vector<16 x i32>
    int v5 = (int)((unsigned int)v3 + 1);
    // store %1, %5, %2
    if (v2) {
        x[v0] = v5;
    }
}
