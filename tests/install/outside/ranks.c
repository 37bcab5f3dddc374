/* Links with recsort_mpi. */
#include <recsort/mpi.h>

int main(void)
{
  return !recsort_mpi_sort;
}
