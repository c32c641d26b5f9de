// A picture opens alone where it is tapped or clicked, at its full size.
for (const picture of document.querySelectorAll(".bd-article figure img")) {
  if (picture.closest("a")) continue;
  const link = document.createElement("a");
  link.href = picture.src;
  picture.replaceWith(link);
  link.append(picture);
}
