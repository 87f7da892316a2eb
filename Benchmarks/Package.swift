// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who uses the library builds it.
let package = Package(
    name: "millstream-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "millstream", path: "..")],
    targets: [
        .target(name: "CLimits", cSettings: [.unsafeFlags(["-O2"])]),
        .executableTarget(
            name: "PlaylistBenchmark",
            dependencies: ["CLimits", .product(name: "HLSPlaylist", package: "millstream")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
