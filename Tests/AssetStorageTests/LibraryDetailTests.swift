import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests which files and media playlists of an asset an operation concerns.
@Suite struct LibraryDetailTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func source() throws -> Playlist {
        try TemporaryLibrary.multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="en.m3u8""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=3000,RESOLUTION=1920x1080,CODECS="avc1.1",AUDIO="a""#,
            "high.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360,CODECS="avc1.2,mp4a",AUDIO="a""#,
            "low.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=2000,RESOLUTION=1280x720,AUDIO="a""#,
            "middle.m3u8"
        )
    }

    /// Parses a media playlist with three segments whose names begin with a text.
    private static func media(_ name: String) throws -> MediaPlaylist {
        try TemporaryLibrary.media(
            "#EXTINF:4,",
            "\(name)0.ts",
            "#EXTINF:4,",
            "\(name)1.ts",
            "#EXTINF:4,",
            "\(name)2.ts"
        )
    }

    private func count(_ table: String) throws -> Int? {
        try library.catalog.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(table)") }
    }

    // MARK: Packages

    @Test func packageIsADirectory() {
        let package = library.packageDirectory("a")
        #expect(package.hasDirectoryPath && package.lastPathComponent == "a")
        #expect(package.deletingLastPathComponent().lastPathComponent == "packages")
    }

    @Test func packageWithoutAnEntryGetsANameThatIsNotTaken() throws {
        for name in ["lost", "lost-2", "lost-3"] {
            let package = library.packageDirectory("lost")
            try FileManager.default.createDirectory(at: package, withIntermediateDirectories: false)
            try Data("#EXTM3U\n".utf8).write(to: package.appendingPathComponent("multivariant.m3u8"))
            let opened = try AssetLibrary(directory: temporary.directory)
            #expect(opened.packagesWithoutEntry?.lastPathComponent == "recovered")
            let playlist = temporary.directory.appendingPathComponent("recovered/\(name)/multivariant.m3u8")
            #expect(PathCheck.exists(playlist) && !PathCheck.exists(package))
        }
    }

    // MARK: Keys

    @Test func keysAreThoseOfTheMediaPlaylistOfTheFile() throws {
        let id = try temporary.enter()
        let encrypted = try TemporaryLibrary.media(#"#EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x01"#, "#EXTINF:4,", "0.ts")
        let clear = try TemporaryLibrary.media("#EXTINF:4,", "1.ts")
        try temporary.plan(
            id,
            try Self.source(),
            TemporaryLibrary.rendition(.variant, 0, encrypted),
            TemporaryLibrary.rendition(.variant, 1, clear),
            TemporaryLibrary.rendition(.audio, 0, encrypted)
        )
        for (path, isEncrypted) in [
            ("variant-0/000000.ts", true), ("variant-1/000000.ts", false), ("audio-0/000000.ts", true),
        ] {
            let segment = try #require(try library.resource(at: path, of: id))
            #expect(segment.path == path && segment.folder == String(path.prefix { $0 != "/" }))
            #expect(try library.namesKeys(for: segment) == isEncrypted, "\(path)")
            #expect(try library.mayNameKeys(segment) == isEncrypted, "\(path)")
        }
        #expect(try library.resource(at: "variant-2/000000.ts", of: id) == nil)
        #expect(storageError { _ = try library.resource(at: "variant-0/000000.ts", of: "none") }?.code == "not-found")
    }

    // MARK: Shared content

    /// The summary of an asset tells whether its files are also those of another one.
    @Test func summaryOfTheFirstAssetIsComputedAgainWhenItsFilesAreShared() throws {
        func planned(_ name: String) throws -> String {
            let id = try temporary.enter(name, from: "\(name).m3u8")
            let playlist = try TemporaryLibrary.media("#EXTINF:4,", "\(name).ts")
            try temporary.plan(id, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
            return id
        }
        let ids = [try planned("a"), try planned("b")]
        // Both are received before one of them is finished. A smaller file is not shared.
        for id in ids {
            try temporary.store(library.missingResources(id), of: id, content: String(repeating: "x", count: 4_097))
        }
        try library.finish(ids[0])
        #expect(try library.summaries().map(\.sharesFiles) == [false, false])
        _ = temporary.files.takeLines()
        try library.finish(ids[1])
        let linked = temporary.files.takeLines().drop { !$0.hasPrefix("rename packages/*/media/000000.ts.link to ") }
        #expect(linked.contains("synchronize folder packages/*/media"), "the new name is on the disk")
        #expect(try library.summaries().map(\.sharesFiles) == [true, true])
        // Files that have a name in common already change nothing.
        try library.storeMissingSummaries()
        try library.finish(ids[1])
        #expect(try !library.lacksSummaries)
    }

    // MARK: Removed media playlists

    @Test func mediaPlaylistsStayWhileTheAssetIsPlayed() throws {
        let id = try temporary.enter()
        try temporary.plan(
            id,
            try Self.source(),
            TemporaryLibrary.rendition(.variant, 0, try Self.media("a")),
            TemporaryLibrary.rendition(.variant, 1, try Self.media("b"))
        )
        let lock = try library.lock(id)
        defer { withExtendedLifetime(lock) {} }
        let before = try library.resources(id)
        let player = PackageTransport(library, id: id, origin: nil)
        let error = storageError { try library.removeRenditions(of: id, besides: ["variant-0"]) }
        #expect(error?.code == "asset-busy")
        // Without directories, and with all of them, there is nothing to remove.
        try library.removeRenditions(of: id, besides: [])
        try library.removeRenditions(of: id, besides: ["variant-0", "variant-1", "other"])
        #expect(try library.resources(id) == before)
        withExtendedLifetime(player) {}
    }

    @Test(arguments: 0...2) func assetIsCompleteIfTheRestIs(missingCount: Int) throws {
        let id = try temporary.enter()
        try temporary.plan(
            id,
            try Self.source(),
            TemporaryLibrary.rendition(.variant, 0, try Self.media("a")),
            TemporaryLibrary.rendition(.variant, 1, try Self.media("b"))
        )
        let missing = try library.missingResources(id)
        let wanted = missing.filter { $0.folder == "variant-0" }.dropFirst(missingCount)
        let others = missing.filter { $0.folder == "variant-1" }.dropLast()
        try temporary.store(Array(others) + Array(wanted), of: id)
        let lock = try library.lock(id)
        defer { withExtendedLifetime(lock) {} }
        try library.removeRenditions(of: id, besides: ["variant-0"])
        #expect(try library.missingCount(id) == missingCount)
        let asset = try library.asset(id)
        #expect(
            asset.state == (missingCount == 0 ? .complete : .partial) && asset.renditions.map(\.folder) == ["variant-0"]
        )
        #expect(try !temporary.names(of: id).contains { $0.hasPrefix("variant-1") })
        #expect(try !temporary.text("multivariant.m3u8", of: id).contains("variant-1"))
        #expect(try count("assetCleanup") == 0)
        #expect(try !library.lacksSummaries)
    }

    @Test func remainingVariantsOfAPlaylistAreItsEntries() throws {
        let id = try temporary.enter()
        guard case .multivariant(let source) = try Self.source() else { throw CancellationError() }
        try temporary.plan(
            id,
            .multivariant(source),
            TemporaryLibrary.rendition(.variant, 0, try Self.media("a"), variant: source.variants[0], aliases: [1, 2]),
            TemporaryLibrary.rendition(.audio, 0, try Self.media("b")),
            TemporaryLibrary.rendition(.audio, 9, try Self.media("c")),
            TemporaryLibrary.rendition(.iFrames, 9, try Self.media("d"))
        )
        try temporary.complete(id)
        // Entries that the source does not have are not those of removed variants.
        let rate = BitRate(bitsPerSecond: 2_000)
        let result = try library.shrink(id, to: .maximumBitRate(rate))
        #expect(result.outcome == .removedFromPlaylist && result.removed.isEmpty)
        #expect(try library.shrink(id, to: .maximumBitRate(rate)).outcome == .withinLimit)
        let text = try temporary.text("multivariant.m3u8", of: id)
        #expect(!text.contains("BANDWIDTH=3000") && text.contains("BANDWIDTH=1000") && text.contains("BANDWIDTH=2000"))
        #expect(try library.verify(id).damaged.isEmpty && count("assetCleanup") == 0)
        let entries = try library.plannedEntries(id)
        #expect(entries.map(\.position) == [1, 0, 9, 9] && entries.map(\.aliases) == [[2], [], [], []])
        let variant = try #require(try library.asset(id).renditions.first)
        #expect(variant.width == 640 && variant.height == 360 && variant.codecs == ["avc1.2", "mp4a"])
        #expect(variant.bandwidth == BitRate(bitsPerSecond: 1_000))
        #expect(try library.asset(id).state == .complete)
    }

    /// Plans the media playlists of entries of a source, and returns the directories of those that a limit removes.
    private func shrunk(
        _ source: Playlist,
        _ entries: [(role: StoredRendition.Role, position: Int)],
        to limit: StoredVariantLimit
    ) throws -> [String] {
        let id = try temporary.enter()
        let renditions = try entries.map { entry in
            let media = try Self.media("\(entry.role.rawValue)\(entry.position)")
            return TemporaryLibrary.rendition(entry.role, entry.position, media)
        }
        do {
            let lock = try library.lock(id)
            defer { withExtendedLifetime(lock) {} }
            try library.planDownload(
                of: id,
                source: source,
                at: ResourceAddress(TemporaryLibrary.origin + "top.m3u8"),
                renditions: renditions
            )
        }
        return try library.shrink(id, to: limit).removed.map(\.folder)
    }

    /// A variant whose bit rate or height is unknown satisfies a limit.
    @Test(
        arguments: [(.maximumBitRate(BitRate(bitsPerSecond: 1_000)), "variant-1"), (.maximumHeight(360), "variant-0")]
            as [(StoredVariantLimit, String)]
    )
    func variantWithoutTheLimitedAttributeStays(limit: StoredVariantLimit, removed: String) throws {
        let source = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:RESOLUTION=1280x720",
            "a.m3u8",
            "#EXT-X-STREAM-INF:BANDWIDTH=9000",
            "b.m3u8"
        )
        #expect(try shrunk(source, [(.variant, 0), (.variant, 1)], to: limit) == [removed])
    }

    @Test func iFramesUpToTheHighestVariantStay() throws {
        let source = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360",
            "a.m3u8",
            "#EXT-X-STREAM-INF:BANDWIDTH=2000,RESOLUTION=1280x720",
            "b.m3u8",
            "#EXT-X-STREAM-INF:BANDWIDTH=3000,RESOLUTION=1920x1080",
            "c.m3u8",
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,RESOLUTION=1280x720,URI="i.m3u8""#,
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=2,RESOLUTION=1920x1080,URI="j.m3u8""#
        )
        let all: [(role: StoredRendition.Role, position: Int)] = [
            (.variant, 0), (.variant, 1), (.variant, 2), (.iFrames, 0), (.iFrames, 1),
        ]
        #expect(try shrunk(source, all, to: .maximumHeight(720)) == ["variant-2", "i-frames-1"])
    }

    @Test func iFramesStayIfNoVariantHasAHeight() throws {
        let source = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=1000",
            "a.m3u8",
            "#EXT-X-STREAM-INF:BANDWIDTH=2000",
            "b.m3u8",
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,RESOLUTION=1280x720,URI="i.m3u8""#
        )
        let all: [(role: StoredRendition.Role, position: Int)] = [(.variant, 0), (.variant, 1), (.iFrames, 0)]
        let rate = BitRate(bitsPerSecond: 1_000)
        #expect(try shrunk(source, all, to: .maximumBitRate(rate)) == ["variant-1"])
    }

    // MARK: Summaries

    /// Contents that an earlier version stored do not tell whether the asset can be played.
    @Test(
        arguments: [
            ([.variant], [], false), ([.variant], ["variant-0"], true), ([.variant, .audio], ["variant-0"], false),
            ([.variant, .audio], ["audio-0"], false), ([.variant, .audio], ["variant-0", "audio-0"], true),
            ([.variant, .subtitles], ["variant-0"], true),
        ] as [([StoredRendition.Role], Set<String>, Bool)]
    )
    func contentOfAnEarlierVersionIsPlayableWithAudio(
        roles: [StoredRendition.Role],
        stored: Set<String>,
        isPlayable: Bool
    ) throws {
        let id = try temporary.enter()
        let lock = try library.lock(id)
        try library.planDownload(
            of: id,
            source: try Self.source(),
            at: ResourceAddress(TemporaryLibrary.origin + "top.m3u8"),
            renditions: try roles.map { TemporaryLibrary.rendition($0, 0, try Self.media($0.rawValue)) }
        )
        let missing = try library.missingResources(id).filter { stored.contains($0.folder) }
        if !missing.isEmpty { try temporary.store(missing, of: id) }
        let content = try library.catalog.write { database -> Data? in
            try AssetLibrary.saveSummary(of: id, DiskUsage(of: library.packageDirectory(id)), database)
            return try Data.fetchOne(database, sql: "SELECT content FROM assetContent")
        }
        withExtendedLifetime(lock) {}
        let data = try #require(content)
        var fields = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let value = fields.removeValue(forKey: "isPlayable") as? Bool
        #expect(value == isPlayable)
        let former = try JSONSerialization.data(withJSONObject: fields)
        try library.catalog.write { try $0.execute(sql: "UPDATE assetContent SET content = ?", arguments: [former]) }
        #expect(try library.asset(id).isPlayableOffline == isPlayable)
        #expect(try library.assets().map(\.isPlayableOffline) == [isPlayable])
    }

    // MARK: Artwork

    @Test func artworkIsAddedToAnAssetOnly() throws {
        let gif = try AssetArtwork(Data(Array("GIF89a".utf8) + [1, 0, 1, 0]))
        #expect(storageError { try library.addArtwork(gif, of: "none") }?.code == "not-found")
        #expect(try library.artworkFormats().isEmpty)
    }
}
