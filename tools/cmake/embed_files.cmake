# Run by graphline_embed: writes the C++ file `out`, which includes `header` and defines its texts
# from `sources`, a list of NAME=FILE.
set(names)
foreach(source IN LISTS sources)
  string(REGEX MATCH "^([^=]*)=(.*)$" matched ${source})
  set(name ${CMAKE_MATCH_1})
  file(READ ${CMAKE_MATCH_2} content)
  list(APPEND names ${name})
  # Adjacent literals are one text, so files with the same name are joined.
  string(APPEND text_of_${name} "\n    R\"embedded(${content})embedded\"")
endforeach()
list(REMOVE_DUPLICATES names)

set(text "#include \"${header}\"\n\nnamespace graphline {\n")
foreach(name IN LISTS names)
  string(APPEND text "\nconst std::string_view ${name} =${text_of_${name}};\n")
endforeach()
string(APPEND text "\n}  // namespace graphline\n")
file(WRITE ${out} "${text}")
