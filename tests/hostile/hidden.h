// Calls functions of the runtime in ways that nobody can see: their addresses are read from the symbols of the library
// that is in memory, and not asked from the loader.
#ifndef HIDDEN_H
#define HIDDEN_H

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    uintptr_t address;
} HiddenWish;

static uint32_t hidden_hash(const char *name) {
    uint32_t hash = 5381;
    for (; *name != 0; name++) hash = hash * 33 + (unsigned char)*name;
    return hash;
}

// Follows one bucket of the GNU hash table of a loaded object.
static uintptr_t hidden_in(const ElfW(Dyn) *dynamic, uintptr_t base, const char *name) {
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    const uint32_t *table = NULL;
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        uintptr_t value = dynamic->d_un.d_ptr;
        // The loader writes addresses there, except on some machines.
        if (value < base) value += base;
        if (dynamic->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym) *)value;
        if (dynamic->d_tag == DT_STRTAB) strings = (const char *)value;
        if (dynamic->d_tag == DT_GNU_HASH) table = (const uint32_t *)value;
    }
    if (symbols == NULL || strings == NULL || table == NULL) return 0;
    uint32_t buckets = table[0], first = table[1], words = table[2];
    const uint32_t *heads = table + 4 + words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = heads + buckets;
    uint32_t hash = hidden_hash(name), index = heads[hash % buckets];
    if (index < first) return 0;
    for (;; index++) {
        const ElfW(Sym) *symbol = &symbols[index];
        if (symbol->st_shndx != SHN_UNDEF && strcmp(strings + symbol->st_name, name) == 0) {
            return base + symbol->st_value;
        }
        if (chain[index - first] & 1) return 0;
    }
}

static int hidden_look(struct dl_phdr_info *info, size_t size, void *wanted) {
    HiddenWish *wish = wanted;
    (void)size;
    if (strstr(info->dlpi_name, "libascendcl.so") == NULL) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        uintptr_t dynamic = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        wish->address = hidden_in((const ElfW(Dyn) *)dynamic, info->dlpi_addr, wish->name);
    }
    return wish->address != 0;
}

static uintptr_t hidden(const char *name) {
    HiddenWish wish = {name, 0};
    dl_iterate_phdr(hidden_look, &wish);
    if (wish.address == 0) {
        printf("no %s\n", name);
        exit(1);
    }
    return wish.address;
}

#endif
