// swift-tools-version: 6.2
import PackageDescription

// Set by Scripts/fuzz: adds the programs that link libFuzzer and instruments the package's own modules.
let isFuzzing = Context.environment["MILLSTREAM_FUZZING"] == "1"

// Names test targets, separated by commas: leaves only these and what they depend on, for builds that need no more.
let wantedTests = Context.environment["MILLSTREAM_TESTS"]?.split(separator: ",").map(String.init) ?? []

// Adds a substitute for AVFoundation where there is none, against which MillstreamAVFoundation is compiled and tested.
let hasAVFoundationStub = Context.environment["MILLSTREAM_AVFOUNDATION_STUB"] == "1"

// Set by the scripts that build the tests: what computes most is optimized in debug builds too, with its assertions, so that the
// tests take half the time.
let isOptimized = Context.environment["MILLSTREAM_OPTIMIZED"] == "1"

// FFmpeg, SDL2 and libass and what they depend on are some 200 libraries: where functions.S is written for the processor, they
// are loaded at the first use instead of at every start. MILLSTREAM_LINK_PLAYBACK=1 links them, for headers outside of the
// compiler's usual folders and for another processor than that of the host.
#if os(Linux) && arch(x86_64)
let loadsPlaybackOnDemand = Context.environment["MILLSTREAM_LINK_PLAYBACK"] != "1"
#else
let loadsPlaybackOnDemand = false
#endif

let house: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
    ] + (isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : [])
// Targets that read bytes from outside: unsafe memory access that is not marked does not compile.
let guarded = house + [.strictMemorySafety()]

let package = Package(
    name: "millstream",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18)],
    products: [
        .library(name: "HLSPlaylist", targets: ["HLSPlaylist"]),
        .library(name: "PlaylistEditing", targets: ["PlaylistEditing"]),
        .library(name: "MediaTiming", targets: ["MediaTiming"]),
        .library(name: "PlaybackReporting", targets: ["PlaybackReporting"]),
        .library(name: "Adaptation", targets: ["Adaptation"]),
        .library(name: "NetworkConditioning", targets: ["NetworkConditioning"]),
        .library(name: "MediaTransport", targets: ["MediaTransport"]),
        .library(name: "MediaDecoding", targets: ["MediaDecoding"]),
        .library(name: "MediaOutput", targets: ["MediaOutput"]),
        .library(name: "ResourceAddressing", targets: ["ResourceAddressing"]),
        .library(name: "Millstream", targets: ["Millstream"]),
        .library(name: "MillstreamDownloads", targets: ["MillstreamDownloads"]),
        .library(name: "MillstreamServer", targets: ["MillstreamServer"]),
        .library(name: "MillstreamAVFoundation", targets: ["MillstreamAVFoundation"]),
        .library(name: "MillstreamTesting", targets: ["MillstreamTesting"]),
        .executable(name: "millstream", targets: ["millstream-cli"]),
    ],
    traits: [
        .trait(name: "Playback", description: "Decode with FFmpeg and show video in an SDL2 window."),
        .default(enabledTraits: ["Playback"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.26.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.36.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Formats: pure values in, pure values out. XML is read by libxml2, which takes bytes and nothing else.
        .target(
            name: "MediaTiming",
            swiftSettings: guarded,
            // Rounding is a function of libm, which nothing else brings in where Foundation is not linked.
            linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]
        ),
        .target(name: "ResourceAddressing", swiftSettings: guarded),
        .systemLibrary(
            name: "CLibXML2",
            pkgConfig: "libxml-2.0",
            providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]
        ),
        .target(
            name: "XMLReading",
            dependencies: ["CLibXML2", "MediaTiming", "ResourceAddressing"],
            swiftSettings: guarded
        ),
        .target(
            name: "SegmentFormat",
            dependencies: ["MediaTiming", "ResourceAddressing", "XMLReading"],
            swiftSettings: guarded
        ),
        .target(name: "ReportFormat", dependencies: ["MediaTiming", "ResourceAddressing"], swiftSettings: guarded),
        .target(
            name: "HLSPlaylist",
            dependencies: ["MediaTiming", "ReportFormat", "ResourceAddressing"],
            swiftSettings: guarded
        ),
        .target(
            name: "DASHManifest",
            dependencies: ["MediaTiming", "ReportFormat", "ResourceAddressing", "XMLReading"],
            swiftSettings: guarded
        ),

        // Decisions: still pure; they never read a clock or a socket.
        .target(
            name: "PlaylistEditing",
            dependencies: ["HLSPlaylist", "MediaTiming", "ReportFormat", "ResourceAddressing"],
            swiftSettings: guarded
        ),

        .target(
            name: "DASHTranslation",
            dependencies: [
                "DASHManifest", "HLSPlaylist", "MediaTiming", "ReportFormat", "ResourceAddressing", "SegmentFormat",
                "XMLReading",
            ],
            swiftSettings: guarded
        ),
        .target(
            name: "NetworkConditioning",
            dependencies: ["MediaTiming", "ResourceAddressing"],
            swiftSettings: guarded
        ),
        .target(
            name: "Adaptation",
            dependencies: ["MediaTiming", "ResourceAddressing"],
            swiftSettings: guarded
        ),

        .target(
            name: "PlaybackReporting",
            dependencies: ["MediaTiming", "ReportFormat", "ResourceAddressing"],
            swiftSettings: guarded
        ),

        // Effects: the network and the disk.
        .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"]), .brew(["libpsl"])]),
        .systemLibrary(
            name: "CHiredis",
            pkgConfig: "hiredis",
            providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]
        ),
        .target(
            name: "MediaTransport",
            dependencies: [
                .target(name: "CPSL", condition: .when(platforms: [.linux, .macOS])),
                "Adaptation", "MediaTiming", "NetworkConditioning", "ResourceAddressing",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: house
        ),
        .target(
            name: "PresentationLoading",
            dependencies: [
                "DASHManifest", "DASHTranslation", "HLSPlaylist", "MediaTiming", "MediaTransport", "PlaylistEditing",
                "ResourceAddressing", "SegmentFormat",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: house
        ),
        .target(
            name: "AssetStorage",
            dependencies: [
                "HLSPlaylist", "MediaTiming", "MediaTransport", "PlaylistEditing", "PresentationLoading",
                "ReportFormat",
                "ResourceAddressing",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: house
        ),

        .target(
            name: "StreamingEngine",
            dependencies: [
                "Adaptation", "HLSPlaylist", "MediaTiming", "MediaTransport", "PlaybackReporting", "ResourceAddressing",
                "SegmentFormat",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: house
        ),

        // The screen and the loudspeaker, where the trait Playback is on.
        .systemLibrary(
            name: "CFFmpeg",
            pkgConfig: loadsPlaybackOnDemand
                ? nil : "libavfilter libavformat libavcodec libswscale libswresample libavutil",
            providers: [
                .apt([
                    "libavcodec-dev", "libavfilter-dev", "libavformat-dev", "libavutil-dev", "libswresample-dev",
                    "libswscale-dev",
                ]),
                .brew(["ffmpeg"]),
            ]
        ),
        .target(
            name: "MediaDecoding",
            dependencies: [
                "CFFmpeg", "MediaTiming", "PlaybackReporting", "ResourceAddressing", "SegmentFormat", "StreamingEngine",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: guarded
        ),

        .systemLibrary(
            name: "CSDL2",
            pkgConfig: loadsPlaybackOnDemand ? nil : "sdl2",
            providers: [.apt(["libsdl2-dev"]), .brew(["sdl2"])]
        ),
        .systemLibrary(
            name: "CASS",
            pkgConfig: loadsPlaybackOnDemand ? nil : "libass",
            providers: [.apt(["libass-dev"]), .brew(["libass"])]
        ),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .target(
            name: "MediaOutput",
            dependencies: ["CASS", "CSDL2", "CZlib", "MediaDecoding", "MediaTiming", "ResourceAddressing"],
            swiftSettings: house
        ),

        // Faces: what an application imports.
        .target(
            name: "Millstream",
            dependencies: [
                "Adaptation", "AssetStorage", "HLSPlaylist", "MediaTiming", "MediaTransport", "PlaybackReporting",
                "PresentationLoading", "ResourceAddressing", "SegmentFormat", "StreamingEngine",
                .target(name: "MediaDecoding", condition: .when(traits: ["Playback"])),
                .target(name: "MediaOutput", condition: .when(traits: ["Playback"])),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: house
        ),
        .target(
            name: "MillstreamDownloads",
            dependencies: [
                "AssetStorage", "HLSPlaylist", "MediaTiming", "MediaTransport", "PlaylistEditing",
                "PresentationLoading",
                "ReportFormat", "ResourceAddressing", "SegmentFormat",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: house
        ),
        .target(
            name: "MillstreamAVFoundation",
            dependencies: [
                "HLSPlaylist", "MediaTiming", "MediaTransport", "ResourceAddressing",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: house
        ),
        .target(
            name: "MillstreamServer",
            dependencies: [
                .target(name: "CHiredis", condition: .when(platforms: [.linux, .macOS])), "CZlib",
                "AssetStorage", "DASHManifest", "DASHTranslation", "HLSPlaylist", "MediaTiming", "MediaTransport",
                "MillstreamDownloads", "NetworkConditioning", "PlaylistEditing", "PresentationLoading", "ReportFormat",
                "ResourceAddressing", "SegmentFormat", "StreamingEngine",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [.copy("Console")],
            swiftSettings: house
        ),
        .target(
            name: "MillstreamTesting",
            dependencies: [
                "MediaTiming", "MediaTransport", "NetworkConditioning", "ResourceAddressing",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: house
        ),
        .executableTarget(
            name: "millstream-cli",
            dependencies: [
                "Adaptation", "AssetStorage", "DASHManifest", "DASHTranslation", "HLSPlaylist", "MediaTiming",
                "MediaTransport", "Millstream", "MillstreamDownloads", "MillstreamServer", "MillstreamTesting",
                "NetworkConditioning",
                "PlaybackReporting", "PlaylistEditing", "PresentationLoading", "ReportFormat", "ResourceAddressing",
                "SegmentFormat", "StreamingEngine",
                .target(name: "MediaDecoding", condition: .when(traits: ["Playback"])),
                .target(name: "MediaOutput", condition: .when(traits: ["Playback"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Sources/millstream-cli",
            swiftSettings: house
        ),

        .target(name: "SharedCorpus", path: "Tests/SharedCorpus", swiftSettings: house),
        .target(name: "TestTranscripts", path: "Tests/TestTranscripts", swiftSettings: house),
        .target(name: "SeededRandomness", path: "Tests/SeededRandomness", swiftSettings: house),

        // Fuzzing: one table of the readers of outside bytes, for libFuzzer and for the replay in the tests.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "Adaptation", "DASHManifest", "DASHTranslation", "HLSPlaylist", "MediaTiming", "NetworkConditioning",
                "PlaybackReporting",
                "PlaylistEditing", "ReportFormat", "ResourceAddressing", "SegmentFormat", "XMLReading",
            ],
            path: "Fuzzing/FuzzTargets",
            swiftSettings: house
        ),
        .target(
            name: "StreamFuzzTargets",
            dependencies: [
                "Adaptation", "AssetStorage", "FuzzTargets", "HLSPlaylist", "MediaTiming", "MediaTransport",
                "Millstream", "MillstreamDownloads", "MillstreamServer", "MillstreamTesting", "PlaybackReporting",
                "PresentationLoading", "ReportFormat", "ResourceAddressing", "StreamingEngine",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Fuzzing/StreamFuzzTargets",
            swiftSettings: house
        ),
        // The demultiplexers of MediaDecoding, where the trait Playback is on.
        .target(
            name: "DecodingFuzzTargets",
            dependencies: [
                "FuzzTargets", "MediaDecoding", "MediaTiming", "PlaybackReporting", "SegmentFormat", "StreamingEngine",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Fuzzing/DecodingFuzzTargets",
            swiftSettings: house
        ),
        .executableTarget(
            name: "fuzz-replay",
            dependencies: [
                "FuzzTargets", "StreamFuzzTargets",
                .target(name: "DecodingFuzzTargets", condition: .when(traits: ["Playback"])),
            ],
            path: "Fuzzing/Replay",
            swiftSettings: house
        ),
        .testTarget(
            name: "FuzzReplayTests",
            dependencies: [
                "FuzzTargets", "StreamFuzzTargets", "fuzz-replay",
                .target(name: "DecodingFuzzTargets", condition: .when(traits: ["Playback"])),
            ],
            swiftSettings: house
        ),
        .testTarget(name: "MediaTimingTests", dependencies: ["MediaTiming"], swiftSettings: house),
        .testTarget(
            name: "PlaybackReportingTests",
            dependencies: ["MediaTiming", "PlaybackReporting", "ReportFormat", "SeededRandomness"],
            swiftSettings: house
        ),
        .testTarget(
            name: "StreamingEngineTests",
            dependencies: [
                "Adaptation", "HLSPlaylist", "MediaTiming", "MediaTransport", "MillstreamTesting",
                "NetworkConditioning", "PlaybackReporting", "ResourceAddressing", "SegmentFormat", "SharedCorpus",
                "StreamingEngine", "TestTranscripts",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            exclude: ["Engine/Transcripts"],
            swiftSettings: house
        ),
        .testTarget(name: "ResourceAddressingTests", dependencies: ["ResourceAddressing"], swiftSettings: house),
        .testTarget(
            name: "SegmentFormatTests",
            dependencies: ["MediaTiming", "SegmentFormat", "SeededRandomness", "SharedCorpus"],
            swiftSettings: house
        ),
        .testTarget(name: "XMLReadingTests", dependencies: ["MediaTiming", "XMLReading"], swiftSettings: house),
        .testTarget(name: "ReportFormatTests", dependencies: ["MediaTiming", "ReportFormat"], swiftSettings: house),
        .testTarget(
            name: "HLSPlaylistTests",
            dependencies: [
                "HLSPlaylist", "MediaTiming", "ReportFormat", "ResourceAddressing", "SeededRandomness", "SharedCorpus",
                "TestTranscripts",
            ],
            exclude: ["Fixtures", "Transcripts"],
            swiftSettings: house
        ),
        .testTarget(
            name: "PlaylistEditingTests",
            dependencies: [
                "HLSPlaylist", "MediaTiming", "PlaylistEditing", "ResourceAddressing", "SeededRandomness",
                "SharedCorpus", "TestTranscripts",
            ],
            exclude: ["Transcripts"],
            swiftSettings: house
        ),
        .testTarget(
            name: "DASHManifestTests",
            dependencies: [
                "DASHManifest", "HLSPlaylist", "MediaTiming", "ReportFormat", "ResourceAddressing", "SharedCorpus",
                "XMLReading",
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "DASHTranslationTests",
            dependencies: [
                "DASHManifest", "DASHTranslation", "HLSPlaylist", "MediaTiming", "ReportFormat", "ResourceAddressing",
                "SharedCorpus",
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "PresentationLoadingTests",
            dependencies: [
                "DASHManifest", "DASHTranslation", "HLSPlaylist", "MediaTiming", "MediaTransport", "MillstreamTesting",
                "PresentationLoading", "ResourceAddressing",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: house
        ),
        // Operations on hostile input, for a tool that counts instructions.
        .target(name: "CostOperations", path: "Tests/CostOperations", swiftSettings: house),
        .executableTarget(
            name: "cost-probe",
            dependencies: [
                "CostOperations", "FuzzTargets", "HLSPlaylist", "MediaTiming", "PlaylistEditing", "ReportFormat",
                "ResourceAddressing", "SegmentFormat",
            ],
            path: "Tests/CostProbe",
            swiftSettings: house
        ),
        .executableTarget(
            name: "stream-cost-probe",
            dependencies: [
                "AssetStorage", "CostOperations", "FuzzTargets", "HLSPlaylist", "MediaTiming", "MediaTransport",
                "MillstreamDownloads", "MillstreamServer", "MillstreamTesting", "PlaybackReporting",
                "PlaylistEditing", "ReportFormat", "ResourceAddressing", "StreamFuzzTargets", "StreamingEngine",
            ],
            path: "Tests/StreamCostProbe",
            swiftSettings: house
        ),
        .executableTarget(
            name: "decoding-cost-probe",
            dependencies: ["CostOperations", "DecodingFuzzTargets", "FuzzTargets"],
            path: "Tests/DecodingCostProbe",
            swiftSettings: house
        ),
        .testTarget(
            name: "CostTests",
            dependencies: [
                "FuzzTargets", "PlaylistEditing", "StreamFuzzTargets", "SeededRandomness", "cost-probe",
                "stream-cost-probe", .target(name: "DecodingFuzzTargets", condition: .when(traits: ["Playback"])),
                .target(name: "decoding-cost-probe", condition: .when(traits: ["Playback"])),
            ],
            swiftSettings: house
        ),
        // A part of this package, because the modules that it measures are no products.
        .executableTarget(
            name: "translation-benchmark",
            dependencies: [
                "CLibXML2", "DASHManifest", "DASHTranslation", "HLSPlaylist", "MediaTiming", "ResourceAddressing",
            ],
            path: "Benchmarks/Sources/TranslationBenchmark",
            swiftSettings: house
        ),
        .testTarget(
            name: "NetworkConditioningTests",
            dependencies: ["MediaTiming", "NetworkConditioning", "SharedCorpus"],
            swiftSettings: house
        ),
        .testTarget(
            name: "AdaptationTests",
            dependencies: ["Adaptation", "MediaTiming", "SharedCorpus"],
            exclude: ["Selection/Transcripts"],
            swiftSettings: house
        ),
        .testTarget(
            name: "MillstreamTests",
            dependencies: [
                "Adaptation", "AssetStorage", "HLSPlaylist", "MediaTiming", "MediaTransport", "Millstream",
                "MillstreamDownloads",
                "MillstreamTesting", "NetworkConditioning", "PlaybackReporting", "ResourceAddressing",
                "SeededRandomness", "StreamingEngine",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "MediaDecodingTests",
            dependencies: [
                "CFFmpeg", "HLSPlaylist", "MediaDecoding", "MediaOutput", "MediaTiming", "MediaTransport", "Millstream",
                "MillstreamTesting", "PlaybackReporting", "PlaylistEditing", "ResourceAddressing", "SeededRandomness",
                "SegmentFormat", "StreamingEngine", "TestSamples",
            ],
            swiftSettings: house
        ),
        // The sample streams that tests play.
        .target(name: "TestSamples", path: "Tests/TestSamples", swiftSettings: house),
        // Pictures that tests compute.
        .target(
            name: "PaintedPictures",
            dependencies: ["MediaDecoding"],
            path: "Tests/PaintedPictures",
            swiftSettings: house
        ),
        // A window with a known picture, for tests that look at the screen.
        .executableTarget(
            name: "window-probe",
            dependencies: ["MediaDecoding", "MediaOutput", "MediaTiming", "PaintedPictures"],
            path: "Tests/WindowProbe",
            swiftSettings: house
        ),
        .testTarget(
            name: "MediaOutputTests",
            dependencies: ["CZlib", "MediaDecoding", "MediaOutput", "MediaTiming", "PaintedPictures", "window-probe"],
            swiftSettings: house
        ),
        .testTarget(
            name: "MillstreamTestingTests",
            dependencies: [
                "MillstreamTesting",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "MediaTransportTests",
            dependencies: [
                "Adaptation", "MediaTiming", "MediaTransport", "MillstreamTesting", "NetworkConditioning",
                "ResourceAddressing",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "AssetStorageTests",
            dependencies: [
                "AssetStorage", "HLSPlaylist", "MediaTiming", "MediaTransport", "MillstreamTesting",
                "ReportFormat", "ResourceAddressing", "SeededRandomness",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "MillstreamDownloadsTests",
            dependencies: [
                "AssetStorage", "HLSPlaylist", "MediaTiming", "MediaTransport", "MillstreamDownloads",
                "MillstreamTesting", "PlaylistEditing", "PresentationLoading", "ReportFormat", "ResourceAddressing",
                "SegmentFormat",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "MillstreamServerTests",
            dependencies: [
                "AssetStorage", "DASHManifest", "DASHTranslation", "HLSPlaylist", "MediaTiming", "MediaTransport",
                "MillstreamDownloads", "MillstreamServer", "MillstreamTesting", "NetworkConditioning",
                "PlaylistEditing", "PresentationLoading", "ReportFormat", "ResourceAddressing",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: house
        ),
        // The errors of all targets, against the table in docs/errors.md.
        .testTarget(
            name: "ErrorCodeTests",
            dependencies: [
                "Adaptation", "AssetStorage", "DASHManifest", "DASHTranslation", "HLSPlaylist", "MediaDecoding",
                "MediaOutput", "MediaTransport", "Millstream", "MillstreamDownloads", "MillstreamServer",
                "NetworkConditioning", "PlaybackReporting", "PlaylistEditing", "PresentationLoading", "ReportFormat",
                "ResourceAddressing", "SegmentFormat", "StreamingEngine", "XMLReading",
            ],
            swiftSettings: house
        ),
        .executableTarget(name: "socket-denial", path: "Tests/SocketDenial"),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Adaptation", "HLSPlaylist", "MediaTiming", "MediaTransport", "Millstream", "MillstreamServer",
                "MillstreamTesting", "NetworkConditioning", "ResourceAddressing", "SeededRandomness", "TestSamples",
                "millstream-cli", "socket-denial",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            exclude: ["Fixtures"],
            swiftSettings: house
        ),
    ],
    swiftLanguageModes: [.v6]
)

if loadsPlaybackOnDemand {
    package.targets.append(.target(name: "CPlaybackLibraries"))
    for target in package.targets where ["MediaDecoding", "MediaOutput", "MediaDecodingTests"].contains(target.name) {
        target.dependencies.append("CPlaybackLibraries")
    }
}

if isOptimized {
    let computing: Set = [
        "MediaTiming", "ResourceAddressing", "XMLReading", "SegmentFormat", "ReportFormat", "HLSPlaylist",
        "DASHManifest",
        "PlaylistEditing", "DASHTranslation", "Adaptation", "NetworkConditioning", "StreamingEngine", "MediaDecoding",
        "MillstreamTesting", "FuzzTargets",
    ]
    for target in package.targets where computing.contains(target.name) {
        let flags = SwiftSetting.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))
        target.swiftSettings = (target.swiftSettings ?? []) + [flags]
    }
}

if hasAVFoundationStub {
    package.targets.first { $0.name == "MillstreamAVFoundation" }?.dependencies.append("AVFoundation")
    package.targets += [
        .target(name: "AVFoundation", path: "Tests/AVFoundationStub", swiftSettings: house),
        .testTarget(
            name: "MillstreamAVFoundationTests",
            dependencies: [
                "AVFoundation", "HLSPlaylist", "MediaTiming", "MediaTransport", "MillstreamAVFoundation",
                "MillstreamServer",
                "MillstreamTesting", "PlaylistEditing", "ResourceAddressing",
            ],
            swiftSettings: house
        ),
    ]
}

if isFuzzing {
    let settings = house + [.unsafeFlags(["-parse-as-library"])]
    let linking: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer"])]
    package.targets += [
        .target(name: "CLibFuzzer", path: "Fuzzing/CLibFuzzer"),
        .target(
            name: "FuzzerDriver",
            dependencies: ["CLibFuzzer", "FuzzTargets"],
            path: "Fuzzing/FuzzerDriver",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Fuzzer",
            dependencies: ["FuzzTargets", "FuzzerDriver"],
            path: "Fuzzing/Fuzzer",
            swiftSettings: settings,
            linkerSettings: linking
        ),
        .executableTarget(
            name: "StreamFuzzer",
            dependencies: [
                "FuzzTargets", "FuzzerDriver", "StreamFuzzTargets",
                .target(name: "DecodingFuzzTargets", condition: .when(traits: ["Playback"])),
            ],
            path: "Fuzzing/StreamFuzzer",
            swiftSettings: settings,
            linkerSettings: linking
        ),
    ]
}

if !wantedTests.isEmpty {
    var wanted = Set(wantedTests)
    var unvisited = wantedTests
    while let name = unvisited.popLast() {
        for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _):
                if wanted.insert(name).inserted { unvisited.append(name) }
            default: break
            }
        }
    }
    package.targets.removeAll { !wanted.contains($0.name) }
    package.products = []
}
