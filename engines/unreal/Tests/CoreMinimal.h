// A stub: HttpModule.h has what is used of the engine.
#pragma once
