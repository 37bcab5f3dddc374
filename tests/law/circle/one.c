/* one.c - one half of a cycle, which circles.py must find. */
int one(int count);
int other(int count);

int one(int count)
{
  return count > 0 ? other(count - 1) : 0;
}
