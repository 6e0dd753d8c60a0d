// Exceptions that pass through calls of functions that no table has.
#include <cstdio>
#include <stdexcept>
#include <string>

typedef int (*visitor)(int, void *);

extern "C" {
int aclOwnPlain(int a);
int aclOwnVisit(visitor visit, void *data, int times);
}

namespace {

struct Counted {
    static int alive;
    Counted() { alive++; }
    ~Counted() { alive--; }
};

int Counted::alive = 0;

int refuse(int number, void *data)
{
    Counted counted;
    if (number == 2) {
        throw std::runtime_error("refused " + std::to_string(aclOwnPlain(number)));
    }
    return data == nullptr ? 1 : aclOwnVisit(refuse, nullptr, 3);
}

} // namespace

int main()
{
    for (int round = 0; round < 4; round++) {
        try {
            Counted counted;
            aclOwnVisit(refuse, round & 1 ? &round : nullptr, 3);
            std::printf("it came back\n");
        } catch (const std::exception &error) {
            std::printf("%s, %d alive\n", error.what(), Counted::alive);
        }
        std::printf("%d\n", aclOwnPlain(round));
    }
    return 0;
}
