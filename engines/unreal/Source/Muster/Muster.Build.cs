using System.IO;
using UnrealBuildTool;

public class Muster : ModuleRules
{
	public Muster(ReadOnlyTargetRules Target) : base(Target)
	{
		PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;
		PublicDependencyModuleNames.AddRange(new[] { "Core", "HTTP" });
		// The C++ header is in a folder beside the plugin's folder.
		PublicIncludePaths.Add(Path.Combine(ModuleDirectory, "../../../cpp"));
	}
}
