// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of the library do not build it.
let package = Package(
    name: "millstream-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "millstream", path: ".."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .target(name: "CLimits", cSettings: [.unsafeFlags(["-O2"])]),
        .executableTarget(
            name: "FetchBenchmark",
            dependencies: [
                .product(name: "MediaTransport", package: "millstream"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ResourceAddressing", package: "millstream"),
            ]
        ),
        .executableTarget(
            name: "PlaylistBenchmark",
            dependencies: ["CLimits", .product(name: "HLSPlaylist", package: "millstream")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
