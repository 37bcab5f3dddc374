/* mpi.h - the part of MPI that recsort uses, on a simulated transport: see world.h. */
#ifndef WORLD_MPI_H
#define WORLD_MPI_H

typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Info, MPI_Errhandler, MPI_Fint;
typedef struct world_request *MPI_Request;
typedef struct MPI_Status {
  int bytes;
} MPI_Status;

enum { MPI_SUCCESS };
enum { MPI_COMM_NULL = -1, MPI_COMM_WORLD = 0 };
enum { MPI_BYTE = 1, MPI_UINT64_T };
enum { MPI_SUM = 1, MPI_MIN, MPI_MAX, MPI_BOR };
enum { MPI_THREAD_FUNNELED = 1 };
enum { MPI_COMM_TYPE_SHARED = 1 };
enum { MPI_INFO_NULL };
enum { MPI_ERRORS_ARE_FATAL = 1 };
enum { MPI_PROC_NULL = -1 };
#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_IN_PLACE ((void *)-1)

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided);
int MPI_Finalize(void);
double MPI_Wtime(void);

int MPI_Comm_rank(MPI_Comm handle, int *rank);
int MPI_Comm_size(MPI_Comm handle, int *size);
int MPI_Comm_dup(MPI_Comm handle, MPI_Comm *made);
int MPI_Comm_split_type(MPI_Comm handle, int type, int key, MPI_Info info, MPI_Comm *made);
int MPI_Comm_set_errhandler(MPI_Comm handle, MPI_Errhandler handler);
int MPI_Comm_free(MPI_Comm *handle);
MPI_Comm MPI_Comm_f2c(MPI_Fint handle);

int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm handle,
              MPI_Request *request);
int MPI_Irecv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm handle,
              MPI_Request *request);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Sendrecv(const void *from, int sent, MPI_Datatype sent_type, int to, int sent_tag, void *at,
                 int taken, MPI_Datatype taken_type, int source, int taken_tag, MPI_Comm handle,
                 MPI_Status *status);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count);

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm handle);
int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm handle);
int MPI_Alltoall(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                 MPI_Datatype to_type, MPI_Comm handle);

#endif
