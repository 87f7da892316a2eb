// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who uses the library builds it. `Scripts/fuzz` builds and runs it.
let package = Package(
    name: "millstream-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "millstream", path: "..")],
    targets: [
        .target(name: "CLibFuzzer"),
        .executableTarget(
            name: "PlaylistFuzzer",
            dependencies: [
                "CLibFuzzer",
                .product(name: "HLSPlaylist", package: "millstream"),
                .product(name: "PlaylistEditing", package: "millstream"),
            ],
            swiftSettings: [.unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]
        ),
    ],
    swiftLanguageModes: [.v6]
)
