# cmake -D BUILD=... -D CONSUMER=... -D WORK=... -P check.cmake
#   Installs the build folder BUILD below WORK, and builds and runs the project CONSUMER against
#   what was installed.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${WORK}/prefix/bin/graphline --version)
run(${WORK}/prefix/bin/graphline check ${WORK}/prefix/share/graphline/pipelines/two_models.yaml)
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G Ninja
    -D CMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
