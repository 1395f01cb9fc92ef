# SPDX-License-Identifier: MIT
# cmake -DOUT=guides.c -DHEADER=cli/cmd/guides.h -DPREFIX=ptc_guide_ "-DFILES=name=file.md;name=file.md" -P embed.cmake: the
# bytes of text files as C arrays PREFIXname, which the header declares.
set(text "/* Made by cmake/embed.cmake. */\n#include \"${HEADER}\"\n\n")
foreach(entry IN LISTS FILES)
    string(REGEX REPLACE "=.*" "" name "${entry}")
    string(REGEX REPLACE "^[^=]*=" "" file "${entry}")
    file(READ "${file}" bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND text "const unsigned char ${PREFIX}${name}[] = {${bytes}0};\n"
        "const size_t ${PREFIX}${name}_len = sizeof ${PREFIX}${name} - 1;\n")
endforeach()
file(WRITE "${OUT}" "${text}")
