/* cuda.h - the part of the CUDA driver that the plugin uses, for the stand-in. Names and numbers
 * are CUDA's. */
#ifndef STANDIN_CUDA_H
#define STANDIN_CUDA_H

typedef enum cudaError_enum { CUDA_SUCCESS = 0 } CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;

#endif
