# cmake -D BUILD=... -D CONSUMER=... -D EXAMPLES=... -D PYTHON=... -D WORK=... -P check.cmake
#   Installs the build folder BUILD below WORK, builds and runs the project CONSUMER against what
#   was installed, then the plug-ins of EXAMPLES, with the installed program.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(build_outside source folder)
  run(${CMAKE_COMMAND} -S ${source} -B ${folder} -G Ninja -D CMAKE_PREFIX_PATH=${WORK}/prefix
      ${ARGN})
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
  [ \"\${COMPREPLY[*]}\" = 'serial async overlap' ]
  COMP_WORDS=(graphline run --strategy = a) COMP_CWORD=4
  _graphline
  [ \"\${COMPREPLY[*]}\" = async ]
  COMP_WORDS=(graphline run --strategy =) COMP_CWORD=3
  _graphline
  [ \"\${COMPREPLY[*]}\" = 'serial async overlap' ]
  COMP_WORDS=(graphline run --device c) COMP_CWORD=3
  _graphline
  [ \"\${COMPREPLY[*]}\" = cuda ]
  COMP_WORDS=(graphline stages cpu.sp) COMP_CWORD=2
  _graphline
  [ \"\${COMPREPLY[*]}\" = cpu.spin ]
  COMP_WORDS=(graphline run --policy fi) COMP_CWORD=3
  _graphline
  [ \"\${COMPREPLY[*]}\" = 'fifo fixed_priority' ]
  COMP_WORDS=(graphline policies least) COMP_CWORD=2
  _graphline
  [ \"\${COMPREPLY[*]}\" = least_slack ]"
  ${WORK}/prefix/share/bash-completion/completions/graphline
  COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
foreach(installed zsh/site-functions/_graphline fish/vendor_completions.d/graphline.fish)
  if(NOT EXISTS ${WORK}/prefix/share/${installed})
    message(FATAL_ERROR "no ${installed} was installed")
  endif()
endforeach()
build_outside(${CONSUMER} ${WORK}/build)
run(${WORK}/build/consumer)
build_outside(${EXAMPLES}/cuda_plugin ${WORK}/plugin)
# These need none of what only programs link.
foreach(plugin cpu_plugin policy_plugin)
  build_outside(${EXAMPLES}/${plugin} ${WORK}/${plugin}
    -D CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON -D CMAKE_DISABLE_FIND_PACKAGE_TBB=ON
    -D CMAKE_DISABLE_FIND_PACKAGE_dnnl=ON -D CMAKE_DISABLE_FIND_PACKAGE_JPEG=ON)
endforeach()
run(${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/plugin_check.py ${WORK}/prefix/bin/graphline ${EXAMPLES}
    ${WORK} ${WORK}/tensors)
