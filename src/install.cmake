# What `cmake --install` puts where, and the Debian package that `cpack` makes of the same files.

# The manual page and the completions come from the program's own table of options.
set(generated ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${generated})
foreach(what man bash zsh fish)
  add_custom_command(OUTPUT ${generated}/sdpa.${what} DEPENDS sdpa
                     COMMAND sdpa --generate ${what} >${generated}/sdpa.${what})
  list(APPEND generated_files ${generated}/sdpa.${what})
endforeach()
add_custom_command(OUTPUT ${generated}/sdpa.1.gz DEPENDS ${generated}/sdpa.man
                   COMMAND gzip -9nc ${generated}/sdpa.man >${generated}/sdpa.1.gz)
add_custom_command(OUTPUT ${generated}/changelog.gz DEPENDS ${PROJECT_SOURCE_DIR}/src/changelog
                   COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/src/changelog >${generated}/changelog.gz)
add_custom_target(sdpa_generated ALL DEPENDS ${generated_files} ${generated}/sdpa.1.gz ${generated}/changelog.gz)

install(TARGETS sdpa RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${generated}/sdpa.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated}/sdpa.bash RENAME sdpa
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${generated}/sdpa.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# Under /usr Debian's zsh leaves site-functions out.
install(CODE "
  set(functions site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL /usr AND EXISTS /etc/debian_version)
    set(functions vendor-completions)
  endif()
  file(INSTALL ${generated}/sdpa.zsh RENAME _sdpa
       DESTINATION \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${functions})")
install(FILES README.md ${generated}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES src/lintian-overrides RENAME sdpa DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides)
install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "the sdpa authors <sdpa@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "exact scaled dot-product attention on files")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"sdpa computes scaled dot-product attention, softmax(q k^T / sqrt(d_k)) v, on
files, correctly rounded: the same bytes on every machine. It judges outputs of
attention kernels, and compares arrays.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
