# graphline_embed(OUT HEADER NAME=FILE...) generates the C++ file OUT, which includes HEADER and
# defines for each NAME a `const std::string_view` with the text of FILE, or of all files with that
# NAME in order. It depends on these files.
function(graphline_embed out header)
  set(files)
  foreach(source IN LISTS ARGN)
    string(REGEX REPLACE "^[^=]*=" "" file ${source})
    list(APPEND files ${file})
  endforeach()
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_files.cmake)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -D "out=${out}" -D "header=${header}" -D "sources=${ARGN}" -P ${script}
    DEPENDS ${files} ${script}
    VERBATIM)
endfunction()
