extern "C" __global__
void __launch_bounds__(128) matmul(f16* a, f16* b, float* c, int M, int N, int K) {
    __shared__ __align__(16) unsigned char scratch[16384];
    int thread = threadIdx.x;
    // %2 = program_id {axis=0} : i32
    int v2 = blockIdx.x;
    // %3 = mul %2, 64 : i32
    int v3 = (v2 * 64);
    // %9 = program_id {axis=1} : i32
    int v9 = blockIdx.y;
    // %10 = mul %9, 64 : i32
    int v10 = (v9 * 64);
    // %0 = broadcast 0.0 {shape=(64, 64)} : vector<64x64 x f32>
    // %25 = for 0, K, 32, %0 : vector<64x64 x f32>
    float v14[32];
    #pragma unroll
    for (int r = 0; r < 32; r++) v14[r] = 0.0f;
    for (long long i13 = 0; i13 < K; i13 += 32) {
        int v13 = i13;
        // %4 = arange {start=0, end=64} : vector<64 x i32>
        int v4[2];
        #pragma unroll
        for (int r = 0; r < 2; r++) v4[r] = (thread >> 2) | (r << 5);
        // %5 = add %3, %4 : vector<64 x i32>
        int v5[2];
        #pragma unroll
        for (int r = 0; r < 2; r++) v5[r] = (v3 + v4[r]);
        // %6 = reshape %5 {shape=(64, 1)} : vector<64x1 x i32>
        // %7 = mul %6, K : vector<64x1 x i32>
        int v7[2];
        #pragma unroll
        for (int r = 0; r < 2; r++) v7[r] = (int)((unsigned int)v5[r] * K);
        // %8 = addptr a, %7 : vector<64x1 x ptr<f16>>
        // %1 = arange {start=0, end=32} : vector<32 x i32>
        int v1[8];
        #pragma unroll
        for (int r = 0; r < 8; r++) v1[r] = ((thread & 3) << 3) | r;
        // %15 = add %13, %1 : vector<32 x i32>
        int v15[8];
        #pragma unroll
        for (int r = 0; r < 8; r++) v15[r] = (int)((unsigned int)v13 + v1[r]);
        // %16 = reshape %15 {shape=(1, 32)} : vector<1x32 x i32>
        // %17 = addptr %8, %16 : vector<64x32 x ptr<f16>>
        // %18 = load %17, none, none : vector<64x32 x f16>
        __align__(16) f16 v18[16];
        #pragma unroll
        for (int r = 0; r < 16; r += 8) {
            load_vector<8>(&v18[r], &a[((long long)v7[r >> 3] + v15[r & 7])]);
        }
        // %1 = arange {start=0, end=32} : vector<32 x i32>
        int v1_1[2];
        #pragma unroll
        for (int r = 0; r < 2; r++) v1_1[r] = (thread >> 3) | (r << 4);
        // %15 = add %13, %1 : vector<32 x i32>
        int v15_1[2];
        #pragma unroll
        for (int r = 0; r < 2; r++) v15_1[r] = (int)((unsigned int)v13 + v1_1[r]);
        // %19 = reshape %15 {shape=(32, 1)} : vector<32x1 x i32>
        // %20 = mul %19, N : vector<32x1 x i32>
        int v20[2];
        #pragma unroll
        for (int r = 0; r < 2; r++) v20[r] = (int)((unsigned int)v15_1[r] * N);
        // %21 = addptr b, %20 : vector<32x1 x ptr<f16>>
        // %4 = arange {start=0, end=64} : vector<64 x i32>
        int v4_1[8];
        #pragma unroll
        for (int r = 0; r < 8; r++) v4_1[r] = ((thread & 7) << 3) | r;
        // %11 = add %10, %4 : vector<64 x i32>
        int v11[8];
        #pragma unroll
        for (int r = 0; r < 8; r++) v11[r] = (v10 + v4_1[r]);
        // %12 = reshape %11 {shape=(1, 64)} : vector<1x64 x i32>
        // %22 = addptr %21, %12 : vector<32x64 x ptr<f16>>
        // %23 = load %22, none, none : vector<32x64 x f16>
        __align__(16) f16 v23[16];
        #pragma unroll
        for (int r = 0; r < 16; r += 8) {
            load_vector<8>(&v23[r], &b[((long long)v20[r >> 3] + v11[r & 7])]);
        }
        // %24 = dot %18, %23, %14 : vector<64x64 x f32>
        __syncthreads();
        #pragma unroll
        for (int r = 0; r < 16; r += 8) {
            store_vector<8>((f16*)scratch + ((((thread & 103) << 3) ^ ((thread >> 3 & 1) * 72) ^ ((thread >> 4 & 1) * 144)) ^ ((r & 7) | ((r & 8) << 7))), &v18[r]);
        }
        #pragma unroll
        for (int r = 0; r < 16; r += 8) {
            store_vector<8>((f16*)(scratch + 4096) + ((((thread & 71) << 3) ^ ((thread >> 3 & 1) * 72) ^ ((thread >> 4 & 1) * 144) ^ ((thread >> 5 & 1) * 288)) ^ ((r & 7) | ((r & 8) << 7))), &v23[r]);
        }
        __syncthreads();
        float v24[32];
        #pragma unroll
        for (int r = 0; r < 32; r++) v24[r] = v14[r];
        #pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned int a[8], b[8];
            #pragma unroll
            for (int m = 0; m < 2; m++) {
                load_matrices(&a[4 * m], (f16*)scratch + ((((thread & 9) << 5) ^ (thread >> 1 & 8) ^ ((thread & 32) << 4) ^ ((thread >> 1 & 1) * 72) ^ ((thread >> 2 & 1) * 144)) ^ (m << 10) ^ (k << 4)));
            }
            #pragma unroll
            for (int n = 0; n < 2; n++) {
                load_matrices_transposed(&b[4 * n], (f16*)(scratch + 4096) + ((((thread & 8) << 6) ^ (thread & 16) ^ (thread >> 3 & 8) ^ ((thread >> 0 & 1) * 72) ^ ((thread >> 1 & 1) * 144) ^ ((thread >> 2 & 1) * 288)) ^ (n << 5) ^ (k << 10)));
            }
            #pragma unroll
            for (int m = 0; m < 2; m++) {
                #pragma unroll
                for (int n = 0; n < 4; n++) {
                    mma_f16(&v24[4 * (n + 4 * m)], &a[4 * m], &b[2 * n]);
                }
            }
        }
        #pragma unroll
        for (int r = 0; r < 32; r++) v14[r] = v24[r];
    }
    // store %28, %25, none
    __syncthreads();
    #pragma unroll
    for (int r = 0; r < 32; r++) {
        ((float*)scratch)[(((thread & 7) << 2) ^ ((thread & 56) << 5) ^ ((thread >> 6 & 1) * 36)) ^ ((r & 3) | ((r & 8) << 4) | ((r & 16) << 7) | ((r >> 2 & 1) * 80))] = v14[r];
    }
    __syncthreads();
    float v25[32];
    #pragma unroll
    for (int r = 0; r < 32; r++) {
        v25[r] = ((float*)scratch)[(((thread & 97) << 3) ^ ((thread & 8) << 4) ^ (thread & 16) ^ ((thread >> 1 & 1) * 36) ^ ((thread >> 2 & 1) * 80)) ^ ((r & 1) | ((r & 2) << 1) | (r >> 1 & 2) | ((r & 24) << 7))];
    }
    // %4 = arange {start=0, end=64} : vector<64 x i32>
    int v4_2[8];
    #pragma unroll
    for (int r = 0; r < 8; r++) v4_2[r] = (thread >> 4) | (r << 3);
    // %5 = add %3, %4 : vector<64 x i32>
    int v5_1[8];
    #pragma unroll
    for (int r = 0; r < 8; r++) v5_1[r] = (v3 + v4_2[r]);
    // %6 = reshape %5 {shape=(64, 1)} : vector<64x1 x i32>
    // %26 = mul %6, N : vector<64x1 x i32>
    int v26[8];
    #pragma unroll
    for (int r = 0; r < 8; r++) v26[r] = (int)((unsigned int)v5_1[r] * N);
    // %27 = addptr c, %26 : vector<64x1 x ptr<f32>>
    // %4 = arange {start=0, end=64} : vector<64 x i32>
    int v4_3[4];
    #pragma unroll
    for (int r = 0; r < 4; r++) v4_3[r] = ((thread & 15) << 2) | r;
    // %11 = add %10, %4 : vector<64 x i32>
    int v11_1[4];
    #pragma unroll
    for (int r = 0; r < 4; r++) v11_1[r] = (v10 + v4_3[r]);
    // %12 = reshape %11 {shape=(1, 64)} : vector<1x64 x i32>
    // %28 = addptr %27, %12 : vector<64x64 x ptr<f32>>
    #pragma unroll
    for (int r = 0; r < 32; r += 4) {
        store_vector<4>(&c[((long long)v26[r >> 2] + v11_1[r & 3])], &v25[r]);
    }
}
