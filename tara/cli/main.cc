#include "tara/cli/console.h"
#include "tara/cli/program.h"

int main(int argc, char** argv) {
  tara::Console console = tara::StandardConsole();
  return tara::RunProgram(argc, argv, console);
}
