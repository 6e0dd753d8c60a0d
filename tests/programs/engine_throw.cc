// Exceptions and longjmp that pass through a function which calls the program back, and which an
// engine has patched: the library named by the argument calls it without the dynamic linker.
#include <csetjmp>
#include <cstdio>
#include <dlfcn.h>
#include <stdexcept>

namespace {

typedef void (*leaving)();

struct Counted {
    static int alive;
    Counted() { alive++; }
    ~Counted() { alive--; }
};

int Counted::alive = 0;
std::jmp_buf place;

void refuse()
{
    Counted counted;
    throw std::runtime_error("refused");
}

void leap()
{
    std::longjmp(place, 1);
}

template <typename Function> Function fetch(void *library, const char *name)
{
    return reinterpret_cast<Function>(dlsym(library, name));
}

void throw_through(int (*leave)(leaving))
{
    try {
        Counted counted;
        leave(refuse);
        std::puts("it came back");
    } catch (const std::exception &error) {
        std::printf("%s, %d alive\n", error.what(), Counted::alive);
    }
}

void leap_through(int (*leave)(leaving))
{
    if (setjmp(place) == 0) {
        leave(leap);
        std::puts("it came back");
    }
}

} // namespace

int main(int, char **words)
{
    void *library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::puts(dlerror());
        return 1;
    }
    int device = 0;
    std::printf("%d\n", fetch<int (*)(int *)>(library, "aclrtGetDevice")(&device));
    std::printf("%d\n", dlsym(library, "aclrtGetVersion") != nullptr);
    auto get = fetch<int (*)()>(library, "inner_get_device");
    auto leave = fetch<int (*)(leaving)>(library, "inner_leave");
    for (int round = 0; round < 100; round++) {
        throw_through(leave);
        std::printf("%d\n", get());
        leap_through(leave);
        std::printf("%d\n", get());
    }
    return 0;
}
