import AssetStorage
import CostOperations
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamDownloads
import ResourceAddressing

extension CostOperation {
    private static let base = "https://h/v/"

    /// The operations that plan packages from playlists, complete downloads of small files, and what reads them again.
    static var downloads: [CostOperation] {
        planned + recorded + whole + stored
    }

    private static func media(_ text: String, _ name: String = "list.m3u8") throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress(base + name))
        )
    }

    private static func onDemand(_ count: Int, _ more: (Int) -> String = { _ in "" }) -> String {
        "#EXTM3U\n" + PlaylistShape.header + repeated(count) { more($0) + PlaylistShape.segment($0) }
            + PlaylistShape.end
    }

    private static let shapes: [(String, @Sendable (Int) -> String)] = [
        ("segments", { onDemand($0) }),
        (
            "byte-ranges-of-one-file",
            { count in
                "#EXTM3U\n" + PlaylistShape.header
                    + repeated(count) { "#EXTINF:4,\n#EXT-X-BYTERANGE:10@\(10 * $0)\na.mp4\n" } + PlaylistShape.end
            }
        ),
        ("keys", { onDemand($0) { "#EXT-X-KEY:METHOD=AES-128,URI=\"k\($0)\"\n" } }),
        ("keys-in-turns", { onDemand($0) { "#EXT-X-KEY:METHOD=AES-128,URI=\"k\($0 % 2)\"\n" } }),
        ("initialization-sections", { onDemand($0) { "#EXT-X-MAP:URI=\"m\($0).mp4\"\n" } }),
        (
            "ranges-of-one-initialization-section",
            { onDemand($0) { "#EXT-X-MAP:URI=\"m.mp4\",BYTERANGE=\"10@\($0)\"\n" } }
        ),
        (
            "keys-of-many-formats",
            { count in
                "#EXTM3U\n" + PlaylistShape.header + "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"
                    + repeated(count) { "#EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT=\"f\($0)\",URI=\"k\"\n" }
                    + repeated(4, PlaylistShape.segment) + PlaylistShape.end
            }
        ),
        (
            "one-long-initialization-section",
            { count in
                "#EXTM3U\n" + PlaylistShape.header + "#EXT-X-MAP:URI=\"\(String(repeating: "x", count: 4 * count))\"\n"
                    + repeated(count, PlaylistShape.segment) + PlaylistShape.end
            }
        ),
        ("gaps", { onDemand($0) { $0 > 0 ? "#EXT-X-GAP\n" : "" } }),
    ]

    private static var planned: [CostOperation] {
        shapes.flatMap { name, text in
            [
                CostOperation("downloads/planned/\(name)", size: 40) { count in
                    let playlist = try media(text(count))
                    return { try plan(.media(playlist), [rendition(playlist, position: -1)]) }
                },
                CostOperation("downloads/planned-again/\(name)", size: 40) { count in
                    let playlist = try media(text(count))
                    return { try plan(.media(playlist), [rendition(playlist, position: -1)], again: true) }
                },
            ]
        } + [
            CostOperation("downloads/planned/variants", size: 20) { count in
                try planOfVariants(count, ofOneAddress: false)
            },
            CostOperation("downloads/planned/variants-of-one-playlist", size: 20) { count in
                try planOfVariants(count, ofOneAddress: true)
            },
            CostOperation("downloads/planned/aliases-of-one-variant", size: 40) { count in
                let playlist = try multivariant(count)
                let planned = PlannedRendition(
                    role: .variant,
                    position: 0,
                    language: nil,
                    variant: playlist.variants.first,
                    playlist: try media(onDemand(2)),
                    address: ResourceAddress(base + "v0.m3u8"),
                    aliases: Array(1..<count)
                )
                return { try plan(.multivariant(playlist), [planned], again: true) }
            },
        ]
    }

    private static func multivariant(_ count: Int) throws -> MultivariantPlaylist {
        try MultivariantPlaylist(
            parsing: Array(("#EXTM3U\n" + repeated(count, PlaylistShape.variant)).utf8),
            context: PlaylistContext(address: ResourceAddress(base + "top.m3u8"))
        )
    }

    private static func planOfVariants(_ count: Int, ofOneAddress: Bool) throws -> () throws -> Void {
        let playlist = try multivariant(count)
        let renditions = try playlist.variants.enumerated().map { position, variant in
            rendition(
                try media(onDemand(2), ofOneAddress ? "v0.m3u8" : "v\(position).m3u8"),
                position: position,
                variant: variant
            )
        }
        return { try plan(.multivariant(playlist), renditions, again: true) }
    }

    private static func rendition(
        _ playlist: MediaPlaylist,
        position: Int,
        variant: Variant? = nil
    ) -> PlannedRendition {
        PlannedRendition(
            role: .variant,
            position: position,
            language: nil,
            variant: variant,
            playlist: playlist,
            address: playlist.context.address ?? ResourceAddress(base)
        )
    }

    private static func plan(_ source: Playlist, _ renditions: [PlannedRendition], again: Bool = false) throws {
        try withTemporaryLibrary { library in
            let address = ResourceAddress(base + "top.m3u8")
            let id = try library.addAsset(source: address, title: "t", selection: "")
            for _ in 0..<(again ? 2 : 1) {
                try library.planDownload(of: id, source: source, at: address, renditions: renditions)
                let (asset, missing) = (try library.asset(id), try library.missingResources(id))
                precondition(asset.id == id && !missing.isEmpty)
            }
        }
    }

    private static func withTemporaryLibrary(_ body: (AssetLibrary) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cost-\(UUID())", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder)
        try body(library)
        try library.close()
    }

    // MARK: Recordings

    private static var recorded: [CostOperation] {
        [
            CostOperation("downloads/recorded/attributes-of-date-ranges", size: 100) { count in
                let attributes = repeated(count) { ",X-\($0)=1" }
                let first = try media(dateRanges(20, attributes))
                let second = try media(dateRanges(20, attributes + ",DURATION=8"))
                return { try record(first, then: second) }
            },
            CostOperation("downloads/recorded/date-ranges", size: 40) { count in
                let (first, second) = (try media(dateRanges(count, "")), try media(dateRanges(count, ",DURATION=8")))
                return { try record(first, then: second) }
            },
        ]
    }

    private static func dateRanges(_ count: Int, _ attributes: String) -> String {
        "#EXTM3U\n" + PlaylistShape.header
            + repeated(count) { number in
                "#EXT-X-DATERANGE:ID=\"\(number)\",START-DATE=\"2026-01-01T00:00:00Z\"\(attributes)\n"
            } + PlaylistShape.segment(0)
    }

    private static func record(_ first: MediaPlaylist, then second: MediaPlaylist) throws {
        try withTemporaryLibrary { library in
            let address = ResourceAddress(base + "top.m3u8")
            let id = try library.addAsset(source: address, title: "t", selection: "")
            let writers = try library.beginRecording(
                of: id,
                source: .media(first),
                at: address,
                renditions: [rendition(first, position: -1)]
            ).writers
            for writer in writers {
                let added = try writer.append(0..<1, of: first)
                precondition(added.files.count == 1)
                try writer.updateDateRanges(of: second)
                try writer.updateDateRanges(of: second)
            }
        }
    }

    // MARK: Complete downloads

    private static var whole: [CostOperation] {
        [
            downloaded("segments", size: 12) { ["top.m3u8": [onDemand($0)]] },
            downloaded("variants", size: 12) { count in
                presentation("#EXTM3U\n" + repeated(count, PlaylistShape.variant), count)
            },
            downloaded("renditions-of-many-groups", size: 12) { count in
                presentation(
                    "#EXTM3U\n"
                        + repeated(count) {
                            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\($0)\",NAME=\"n\",LANGUAGE=\"en\",URI=\"v\($0).m3u8\"\n"
                                + "#EXT-X-STREAM-INF:BANDWIDTH=90000,AUDIO=\"g\($0)\"\nv0.m3u8\n"
                        },
                    count
                )
            },
            downloaded("renditions-of-one-playlist", size: 60) { count in
                presentation(
                    "#EXTM3U\n"
                        + repeated(count) {
                            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\($0)\",LANGUAGE=\"en\",URI=\"v0.m3u8\"\n"
                        } + "#EXT-X-STREAM-INF:BANDWIDTH=90000,AUDIO=\"g\"\nv0.m3u8\n",
                    1
                )
            },
        ]
    }

    private static func presentation(_ top: String, _ count: Int) -> [String: [String]] {
        var texts = ["top.m3u8": [top]]
        for number in 0..<count { texts["v\(number).m3u8"] = [onDemand(1)] }
        return texts
    }

    private static func downloaded(
        _ name: String,
        size: Int,
        _ texts: @escaping (Int) -> [String: [String]]
    ) -> CostOperation {
        CostOperation("downloads/whole/\(name)", size: size) { count in
            var named: [String: [String]] = [:]
            for (name, versions) in texts(count) { named[base + name] = versions }
            let files = named
            return {
                try withTemporaryLibrary { library in
                    _ = try download(files, into: library)
                }
            }
        }
    }

    /// Downloads a presentation.
    ///
    /// - Parameters:
    ///   - files: The texts of the origin, by address.
    ///   - library: The library.
    /// - Returns: The identifier of the asset.
    /// - Throws: The error of the download.
    private static func download(_ files: [String: [String]], into library: AssetLibrary) throws -> String {
        let task = AssetDownload(
            ResourceAddress(base + "top.m3u8"),
            into: library,
            loader: ResourceLoader(MemoryOrigin(files), policy: RecoveryPolicy(retries: 0), jitter: { 0.5 }),
            configuration: DownloadConfiguration(
                selection: DownloadSelection(variants: .all),
                maximumConcurrentFetches: 1
            )
        )
        let asset = try wait { try await task.run() }
        precondition(asset.percent == 100)
        return asset.id
    }

    // MARK: Downloaded assets

    private static var stored: [CostOperation] {
        [
            stored("verified") { library, id, _ in
                let result = try library.verify(id)
                precondition(result.damaged.isEmpty)
            },
            stored("exported") { library, id, folder in
                let playlist = try library.export(id, to: folder.appendingPathComponent("exported"))
                precondition(FileManager.default.fileExists(atPath: playlist.path))
            },
        ]
    }

    /// Returns an operation on a downloaded asset, whose download is not counted.
    private static func stored(
        _ name: String,
        _ body: @escaping (_ library: AssetLibrary, _ id: String, _ folder: URL) throws -> Void
    ) -> CostOperation {
        CostOperation("downloads/\(name)/segments", size: 12) { count in
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("cost-\(UUID())", isDirectory: true)
            let library = try AssetLibrary(directory: folder.appendingPathComponent("library", isDirectory: true))
            let id = try download([base + "top.m3u8": [onDemand(count)]], into: library)
            return {
                defer { try? FileManager.default.removeItem(at: folder) }
                try body(library, id, folder)
                try library.close()
            }
        }
    }
}
