extern "C" __global__
void __launch_bounds__(128) matmul(f16* a, f16* b, float* c, int M, int N, int K) {
    __shared__ __align__(16) unsigned char scratch[24576];
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
    // %4 = arange {start=0, end=64} : vector<64 x i32>
    int v4[2];
    #pragma unroll
    for (int r = 0; r < 2; r++) v4[r] = (thread >> 2) + (r << 5);
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
    for (int r = 0; r < 8; r++) v1[r] = ((thread & 3) << 3) + r;
    // %1 = arange {start=0, end=32} : vector<32 x i32>
    int v1_1[2];
    #pragma unroll
    for (int r = 0; r < 2; r++) v1_1[r] = (thread >> 3) + (r << 4);
    // %4 = arange {start=0, end=64} : vector<64 x i32>
    int v4_1[8];
    #pragma unroll
    for (int r = 0; r < 8; r++) v4_1[r] = ((thread & 7) << 3) + r;
    // %11 = add %10, %4 : vector<64 x i32>
    int v11[8];
    #pragma unroll
    for (int r = 0; r < 8; r++) v11[r] = (v10 + v4_1[r]);
    // %12 = reshape %11 {shape=(1, 64)} : vector<1x64 x i32>
    // 3 stages: a turn copies the blocks of the turn 2 after it
    f16* tile18 = (f16*)scratch;
    f16* tile23 = (f16*)(scratch + 12288);
    long long ahead13 = 0;
    auto copy13 = [&](int stage) {
        if (ahead13 < K) {
            int v13 = ahead13;
            // %15 = add %13, %1 : vector<32 x i32>
            int v15[8];
            #pragma unroll
            for (int r = 0; r < 8; r++) v15[r] = (int)((unsigned int)v13 + v1[r]);
            // %16 = reshape %15 {shape=(1, 32)} : vector<1x32 x i32>
            // %17 = addptr %8, %16 : vector<64x32 x ptr<f16>>
            // %18 = load %17, none, none : vector<64x32 x f16>
            #pragma unroll
            for (int r = 0; r < 16; r += 8) {
                copy_async<16>(tile18 + 2048 * stage + ((((thread & 103) << 3) ^ ((thread >> 3 & 1) * 72) ^ ((thread >> 4 & 1) * 144)) ^ ((r & 7) + ((r & 8) << 7))), &(a + v7[r >> 3])[v15[r & 7]]);
            }
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
            // %22 = addptr %21, %12 : vector<32x64 x ptr<f16>>
            // %23 = load %22, none, none : vector<32x64 x f16>
            #pragma unroll
            for (int r = 0; r < 16; r += 8) {
                copy_async<16>(tile23 + 2048 * stage + ((((thread & 71) << 3) ^ ((thread >> 3 & 1) * 72) ^ ((thread >> 4 & 1) * 144) ^ ((thread >> 5 & 1) * 288)) ^ ((r & 7) + ((r & 8) << 7))), &(b + v11[r & 7])[v20[r >> 3]]);
            }
            ahead13 += 32;
        }
        commit_copies();
    };
    #pragma unroll
    for (int stage = 0; stage < 2; stage++) copy13(stage);
    int stage13 = 0;
    for (long long i13 = 0; i13 < K; i13 += 32) {
        int v13 = i13;
        await_copies<1>();
        __syncthreads();
        copy13(stage13 == 0 ? 2 : stage13 - 1);
        // %18 = load %17, none, none : vector<64x32 x f16>
        f16* v18 = tile18 + 2048 * stage13;
        // %23 = load %22, none, none : vector<32x64 x f16>
        f16* v23 = tile23 + 2048 * stage13;
        // %24 = dot %18, %23, %14 : vector<64x64 x f32>
        #pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned int a[8], b[8];
            #pragma unroll
            for (int m = 0; m < 2; m++) {
                load_matrices(&a[4 * m], v18 + ((((thread & 9) << 5) ^ (thread >> 1 & 8) ^ ((thread & 32) << 4) ^ ((thread >> 1 & 1) * 72) ^ ((thread >> 2 & 1) * 144)) ^ (m << 10) ^ (k << 4)));
            }
            #pragma unroll
            for (int n = 0; n < 2; n++) {
                load_matrices_transposed(&b[4 * n], v23 + ((((thread & 8) << 6) ^ (thread & 16) ^ (thread >> 3 & 8) ^ ((thread >> 0 & 1) * 72) ^ ((thread >> 1 & 1) * 144) ^ ((thread >> 2 & 1) * 288)) ^ (n << 5) ^ (k << 10)));
            }
            #pragma unroll
            for (int m = 0; m < 2; m++) {
                #pragma unroll
                for (int n = 0; n < 4; n++) {
                    mma_f16(&v14[4 * (n + 4 * m)], &a[4 * m], &b[2 * n]);
                }
            }
        }
        stage13 = stage13 == 2 ? 0 : stage13 + 1;
    }
    // store %28, %25, none
    __syncthreads();
    #pragma unroll
    for (int q = 0; q < 8; q++) {
        int r = q << 2;
        float several[4] = {v14[r], v14[r | 1], v14[r | 2], v14[r | 3]};
        store_vector<4>((float*)scratch + ((((thread & 7) << 2) ^ ((thread & 56) << 5) ^ ((thread >> 6 & 1) * 36)) ^ ((r & 3) + ((r & 8) << 4) + ((r & 16) << 7) + ((r >> 2 & 1) * 80))), several);
    }
    __syncthreads();
    float v25[32];
    #pragma unroll
    for (int q = 0; q < 8; q++) {
        int r = ((q & 1) << 1) + ((q & 6) << 2);
        float several[4];
        load_vector<4>(several, (float*)scratch + ((((thread & 97) << 3) ^ ((thread & 8) << 4) ^ (thread & 16) ^ ((thread >> 1 & 1) * 36) ^ ((thread >> 2 & 1) * 80)) ^ ((r & 1) + ((r & 2) << 1) + (r >> 1 & 2) + ((r & 24) << 7))));
        v25[r] = several[0];
        v25[r | 1] = several[1];
        v25[r | 4] = several[2];
        v25[r | 5] = several[3];
    }
    // %4 = arange {start=0, end=64} : vector<64 x i32>
    int v4_2[8];
    #pragma unroll
    for (int r = 0; r < 8; r++) v4_2[r] = (thread >> 4) + (r << 3);
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
    for (int r = 0; r < 4; r++) v4_3[r] = ((thread & 15) << 2) + r;
    // %11 = add %10, %4 : vector<64 x i32>
    int v11_1[4];
    #pragma unroll
    for (int r = 0; r < 4; r++) v11_1[r] = (v10 + v4_3[r]);
    // %12 = reshape %11 {shape=(1, 64)} : vector<1x64 x i32>
    // %28 = addptr %27, %12 : vector<64x64 x ptr<f32>>
    #pragma unroll
    for (int r = 0; r < 32; r += 4) store_vector<4>(&(c + v26[r >> 2])[v11_1[r & 3]], &v25[r]);
}
