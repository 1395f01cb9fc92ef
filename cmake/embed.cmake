# SPDX-License-Identifier: MIT
# cmake -DOUT=guides.c "-DGUIDES=name=file.md;name=file.md" -P embed.cmake: the bytes of text files as
# C arrays, for src/cli/guides.h.
set(text "/* Made by cmake/embed.cmake. */\n#include \"cli/guides.h\"\n\n")
foreach(guide IN LISTS GUIDES)
    string(REGEX REPLACE "=.*" "" name "${guide}")
    string(REGEX REPLACE "^[^=]*=" "" file "${guide}")
    file(READ "${file}" bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND text "const unsigned char ptc_guide_${name}[] = {${bytes}0};\n"
        "const size_t ptc_guide_${name}_len = sizeof ptc_guide_${name} - 1;\n")
endforeach()
file(WRITE "${OUT}" "${text}")
