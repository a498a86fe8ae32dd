extern "C" __global__
void block_sum(float* x, float* out, int n) {
    float v0 = 0.0f;
    int v1 = threadIdx.x;
    float v3 = v0;
    for (long long i2 = 0; i2 < n; i2 += 64) {
        int v2 = i2;
        int v6 = (int)((unsigned int)v2 + v1);
        bool v7 = (v6 < n);
        float v8 = (v7 ? x[((long long)v2 + v1)] : 0.0f);
        float v9 = (v3 + v8);
        v3 = v9;
    }
    out[v1] = v3;
}

extern "C" __global__
void collatz(int* x, int* out) {
    int v0 = blockIdx.x;
    int v2 = (true ? x[v0] : 0);
    int v3 = 0;
    int v4 = v2;
    while (true) {
        bool v5 = (v4 > 1);
        if (!v5) break;
        int v8 = (int)((unsigned int)v3 + 1);
        int v9 = (v4 % 2);
        bool v10 = (v9 == 0);
        int v14;
        if (v10) {
            int v11 = (v4 / 2);
            v14 = v11;
        } else {
            int v12 = (int)((unsigned int)3 * v4);
            int v13 = (int)((unsigned int)v12 + 1);
            v14 = v13;
        }
        v3 = v8;
        v4 = v14;
    }
    out[v0] = v3;
}

extern "C" __global__
void swap(int* out, int n) {
    int v0 = blockIdx.x;
    int v2 = v0;
    int v3 = 10;
    int v4 = 100;
    for (int v1 = 0; v1 < n; v1 += 1) {
        int next2 = v3;
        int next3 = v4;
        int next4 = v2;
        v2 = next2;
        v3 = next3;
        v4 = next4;
    }
    out[0] = v2;
    out[1] = v3;
    out[2] = v4;
}

extern "C" __global__
void walk(float* x, float* out, int n) {
    int v0 = threadIdx.x;
    float* v3 = (x + v0);
    float* v4 = out;
    for (int v2 = 0; v2 < n; v2 += 1) {
        float v5 = (true ? v3[0] : 0.0f);
        float v6 = (v5 * 2.0f);
        v4[v0] = v6;
        __syncthreads();
        v3 = (v3 + 32);
        v4 = (v4 + 32);
    }
}

extern "C" __global__
void choose(float* x, float* y, float* out, int flag) {
    bool v0 = (flag > 0);
    float v5;
    float* v6;
    if (v0) {
        v5 = 2.0f;
        v6 = x;
    } else {
        bool v1 = (flag == 0);
        float v3;
        float* v4;
        if (v1) {
            v3 = 3.0f;
            v4 = y;
        } else {
            v3 = 4.0f;
            v4 = (y + 1);
        }
        v5 = v3;
        v6 = v4;
    }
    int v7 = threadIdx.x;
    float v9 = (true ? v6[v7] : 0.0f);
    float v10 = (v9 * v5);
    out[v7] = v10;
}

extern "C" __global__
void nested(int* out, int n, int m) {
    int v1 = 0;
    for (int v0 = 0; v0 < n; v0 += 1) {
        int v3 = v1;
        for (long long i2 = v0; i2 < m; i2 += 2) {
            int v2 = i2;
            int v4 = (int)((unsigned int)v0 + v2);
            int v5 = (v4 % 3);
            bool v6 = (v5 == 0);
            int v10;
            if (v6) {
                int v7 = (int)((unsigned int)v0 * v2);
                int v8 = (int)((unsigned int)v3 + v7);
                v10 = v8;
            } else {
                int v9 = (int)((unsigned int)v3 - 1);
                v10 = v9;
            }
            v3 = v10;
        }
        v1 = v3;
    }
    out[0] = v1;
}
