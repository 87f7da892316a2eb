// swift-tools-version: 6.2
import PackageDescription

// Small programs with the code of the documentation. Scripts/docs builds and runs them.
let package = Package(
    name: "millstream-examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "millstream", path: "..")],
    targets: [
        .executableTarget(
            name: "CatalogApp",
            dependencies: [
                .product(name: "MediaTransport", package: "millstream"),
                .product(name: "Millstream", package: "millstream"),
                .product(name: "MillstreamDownloads", package: "millstream"),
            ]
        ),
        .executableTarget(
            name: "ComputeTimes",
            dependencies: [.product(name: "MediaTiming", package: "millstream")]
        ),
        .executableTarget(
            name: "DownloadStreams",
            dependencies: [
                .product(name: "MediaTransport", package: "millstream"),
                .product(name: "Millstream", package: "millstream"),
                .product(name: "MillstreamDownloads", package: "millstream"),
            ]
        ),
        .executableTarget(
            name: "ReadPlaylist",
            dependencies: [.product(name: "HLSPlaylist", package: "millstream")]
        ),
        .executableTarget(
            name: "EditPlaylist",
            dependencies: [
                .product(name: "HLSPlaylist", package: "millstream"),
                .product(name: "PlaylistEditing", package: "millstream"),
            ]
        ),
        .executableTarget(
            name: "FollowLivePlaylist",
            dependencies: [.product(name: "HLSPlaylist", package: "millstream")]
        ),
        .executableTarget(
            name: "LoadResource",
            dependencies: [
                .product(name: "MediaTiming", package: "millstream"),
                .product(name: "MediaTransport", package: "millstream"),
                .product(name: "ResourceAddressing", package: "millstream"),
            ]
        ),
        .executableTarget(
            name: "LoadWithDelegate",
            dependencies: [
                .product(name: "MediaTransport", package: "millstream"),
                .product(name: "Millstream", package: "millstream"),
                .product(name: "MillstreamServer", package: "millstream"),
                .product(name: "PlaylistEditing", package: "millstream"),
            ]
        ),
        .executableTarget(
            name: "ModelLink",
            dependencies: [
                .product(name: "MediaTiming", package: "millstream"),
                .product(name: "NetworkConditioning", package: "millstream"),
            ]
        ),
        .executableTarget(
            name: "PlayInterstitials",
            dependencies: [.product(name: "Millstream", package: "millstream")]
        ),
        .executableTarget(
            name: "PlayStream",
            dependencies: [.product(name: "Millstream", package: "millstream")]
        ),
        .executableTarget(
            name: "ReportPlayback",
            dependencies: [
                .product(name: "MediaTiming", package: "millstream"),
                .product(name: "PlaybackReporting", package: "millstream"),
            ]
        ),
        .executableTarget(
            name: "ResolveAddresses",
            dependencies: [.product(name: "ResourceAddressing", package: "millstream")]
        ),
        .executableTarget(
            name: "SelectVariants",
            dependencies: [
                .product(name: "Adaptation", package: "millstream"),
                .product(name: "MediaTiming", package: "millstream"),
                .product(name: "Millstream", package: "millstream"),
            ]
        ),
        .executableTarget(
            name: "SimulateTime",
            dependencies: [
                .product(name: "MediaTiming", package: "millstream"),
                .product(name: "MediaTransport", package: "millstream"),
                .product(name: "MillstreamTesting", package: "millstream"),
                .product(name: "NetworkConditioning", package: "millstream"),
                .product(name: "ResourceAddressing", package: "millstream"),
            ]
        ),
        .executableTarget(
            name: "ValidatePlaylist",
            dependencies: [.product(name: "HLSPlaylist", package: "millstream")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
