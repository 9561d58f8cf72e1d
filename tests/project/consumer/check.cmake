# cmake -D BUILD=... -D CONSUMER=... -D EXAMPLE=... -D PYTHON=... -D WORK=... -P check.cmake
#   Installs the build folder BUILD below WORK, builds and runs the project CONSUMER against what
#   was installed, then the plug-in of the project EXAMPLE, with the installed program.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(build_outside source folder)
  run(${CMAKE_COMMAND} -S ${source} -B ${folder} -G Ninja -D CMAKE_PREFIX_PATH=${WORK}/prefix)
  run(${CMAKE_COMMAND} --build ${folder})
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${WORK}/prefix/bin/graphline --version)
run(${WORK}/prefix/bin/graphline check ${WORK}/prefix/share/graphline/pipelines/two_models.yaml)
if(NOT EXISTS ${WORK}/prefix/share/man/man1/graphline.1.gz)
  message(FATAL_ERROR "no manual page was installed")
endif()
execute_process(COMMAND bash -c "source $0
  COMP_WORDS=(graphline run --strategy '') COMP_CWORD=3
  _graphline
  [ \"\${COMPREPLY[*]}\" = 'serial async overlap' ]"
  ${WORK}/prefix/share/bash-completion/completions/graphline
  COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
build_outside(${CONSUMER} ${WORK}/build)
run(${WORK}/build/consumer)
build_outside(${EXAMPLE} ${WORK}/plugin)
run(${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/plugin_check.py ${WORK}/prefix/bin/graphline
    ${EXAMPLE}/normalize.yaml ${WORK}/plugin/normalize.so ${WORK}/tensors)
