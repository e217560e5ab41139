#include "Modules/ModuleManager.h"
#include "MusterTransport.h"

IMPLEMENT_MODULE(FDefaultModuleImpl, Muster)
