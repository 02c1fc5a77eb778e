/** User and folders of the toolkit. The program itself, and the word by which it is called, are put there by its deployment. */
import { directory, systemGroup, systemUser } from "../make-resource.ts";
import type { Feature } from "./feature.ts";
import { paths, toolkitUser } from "./paths.ts";

export const toolkit: Feature<"toolkit"> = (section) => {
  const { directory: home, configuration } = section.value;
  return [
    systemGroup(toolkitUser),
    systemUser(toolkitUser, { home: paths.state }),
    directory(home, { provenance: [section.written("directory", home)] }),
    directory(`${home}/versions`, { after: [`directory:${home}`] }),
    // The store's URL lies here and holds a password: nobody else may list the folder.
    directory(configuration, {
      mode: 0o751,
      group: toolkitUser,
      after: [`group:${toolkitUser}`],
      provenance: [section.written("configuration", configuration)],
    }),
    // Root's: below it lie folders of jobs and of the toolkit that no other user may rename.
    directory(paths.state),
  ];
};
