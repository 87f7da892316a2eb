import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests what the catalog tells about the parts of a presentation.
@Suite struct StoredPresentationTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func source() throws -> Playlist {
        try TemporaryLibrary.multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="en.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="F",LANGUAGE="fr",URI="fr.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="S",LANGUAGE="de",URI="de.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="M""#,
            #"#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="C",INSTREAM-ID="CC1""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s",CLOSED-CAPTIONS="c""#,
            "low.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=1600000,RESOLUTION=1280x720,AUDIO="b""#,
            "high.m3u8",
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,RESOLUTION=640x360,URI="i-low.m3u8""#,
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=2,RESOLUTION=1280x720,URI="i-high.m3u8""#
        )
    }

    /// Plans renditions with two segments each, whose names begin with the role and the position.
    private func plan(_ renditions: (StoredRendition.Role, Int)...) throws -> String { try plan(renditions) }

    private func plan(_ renditions: [(StoredRendition.Role, Int)]) throws -> String {
        let id = try temporary.enter()
        let lock = try library.lock(id)
        defer { withExtendedLifetime(lock) {} }
        let planned = try renditions.map { role, position -> PlannedRendition in
            let name = "\(role.rawValue)\(position)"
            let media = try TemporaryLibrary.media("#EXTINF:4,", "\(name)-0.ts", "#EXTINF:4,", "\(name)-1.ts")
            return TemporaryLibrary.rendition(role, position, media)
        }
        try library.planDownload(
            of: id,
            source: try Self.source(),
            at: ResourceAddress(TemporaryLibrary.origin + "top.m3u8"),
            renditions: planned
        )
        return id
    }

    /// Stores the missing files in directories.
    private func store(_ folders: Set<String>, of id: String) throws {
        try temporary.store(library.missingResources(id).filter { folders.contains($0.folder) }, of: id)
    }

    // MARK: Missing files

    @Test func missingFilesAreThoseOfTheDirectories() throws {
        let id = try plan((.variant, 0), (.audio, 0), (.iFrames, 0))
        for (folders, count) in [
            (nil, 6), (["audio-0"], 2), (["audio-0", "i-frames-0"], 4), (["none"], 0), ([], 0),
        ] as [(Set<String>?, Int)] {
            #expect(try library.missingCount(id, in: folders) == count)
            #expect(try library.missingResources(id, after: nil, in: folders).count == count)
        }
        // I-frames follow all other files.
        let missing = try library.missingResources(id)
        #expect(
            missing.map(\.path) == [
                "variant-0/000000.ts", "audio-0/000000.ts", "variant-0/000001.ts", "audio-0/000001.ts",
                "i-frames-0/000000.ts", "i-frames-0/000001.ts",
            ]
        )
        #expect(missing.map(\.isDeferred) == [false, false, false, false, true, true])
    }

    /// A file that was lost is damage, and not one whose download is not complete.
    @Test func filesOfEachMediaPlaylistAreCounted() throws {
        let id = try plan((.variant, 0), (.audio, 0))
        try store(["audio-0"], of: id)
        try FileManager.default.removeItem(at: temporary.url("audio-0/000001.ts", of: id))
        for _ in 0..<2 {
            #expect(
                try library.fileCounts(of: id) == [
                    StoredFileCounts(folder: "variant-0", total: 2, missing: 2, unfinished: 0),
                    StoredFileCounts(folder: "audio-0", total: 2, missing: 0, unfinished: 0),
                ]
            )
            try library.removeMissingFilesFromCatalog(id)
        }
        #expect(try library.fileCounts(of: temporary.enter("B", from: "other.m3u8")) == [])
    }

    @Test func orderFollowsTheStartTime() {
        let limit = 1e12
        for (seconds, isDeferred, order) in [
            (0, false, 0), (5, false, 5), (-5, false, -5), (0, true, limit), (5, true, limit + 5), (-5, true, limit),
            (2_000_000_000_000, false, limit.nextDown),
        ] as [(Int64, Bool, Double)] {
            #expect(StoredResource.order(startingAt: MediaTime(seconds: seconds), isDeferred: isDeferred) == order)
        }
    }

    @Test func filesThatWereLostAreListedUntilTheyAreStored() throws {
        let id = try plan((.variant, 0), (.audio, 0))
        try store(["variant-0"], of: id)
        #expect(try library.lostFiles(id).isEmpty)
        let path = "variant-0/000001.ts"
        try FileManager.default.removeItem(at: temporary.url(path, of: id))
        try library.removeMissingFilesFromCatalog(id)
        #expect(try library.lostFiles(id) == [path])
        #expect(try library.missingResources(id, after: nil, onlyLost: true).map(\.path) == [path])
        #expect(try library.missingResources(id, after: nil, in: ["audio-0"], onlyLost: true).isEmpty)
        // Files that are stored are not lost, and unknown ones are ignored.
        try library.markAsLost(["variant-0/000000.ts", "audio-0/000000.ts", "none"], of: id)
        #expect(try library.lostFiles(id) == [path, "audio-0/000000.ts"])
        try store(["variant-0", "audio-0"], of: id)
        #expect(try library.lostFiles(id).isEmpty && library.missingCount(id) == 0)
        for body in [
            { _ = try library.lostFiles("none") }, { try library.markAsLost([], of: "none") },
            { _ = try library.plannedEntries("none") },
        ] as [() throws -> Void] { #expect(storageError { try body() }?.code == "not-found") }
    }

    // MARK: Entries of the source

    @Test func entriesAreThoseThatWerePlanned() throws {
        let id = try temporary.enter()
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        #expect(try library.plannedEntries(id).isEmpty)
        let renditions = [
            TemporaryLibrary.rendition(.variant, 0, media, aliases: [1]),
            TemporaryLibrary.rendition(.subtitles, 2, media),
        ]
        try temporary.plan(id, try Self.source(), renditions[0], renditions[1])
        let entries = try library.plannedEntries(id)
        #expect(entries.map(\.role) == [.variant, .subtitles] && entries.map(\.position) == [0, 2])
        #expect(entries.map(\.aliases) == [[1], []])
        #expect(try library.folders(of: renditions, id) == ["variant-0", "subtitles-2"])
        #expect(try library.folders(of: [renditions[1]], id) == ["subtitles-2"])
        // A rendition that shares the playlist of another one has its directory.
        #expect(try library.folders(of: [TemporaryLibrary.rendition(.variant, 1, media)], id) == ["variant-0"])
        #expect(try library.folders(of: [TemporaryLibrary.rendition(.variant, 2, media)], id).isEmpty)
        let other = try temporary.enter(from: "media.m3u8")
        try temporary.plan(other, .media(media), TemporaryLibrary.rendition(.variant, -1, media))
        #expect(try library.plannedEntries(other).isEmpty)
    }

    @Test func renditionsOfTheStoredVariantsAreOffered() throws {
        let id = try plan((.variant, 0), (.audio, 0))
        func offered() throws -> [String] {
            let offered = try #require(try library.offeredRenditions(of: id))
            return offered.entries.map { "\($0.position) \($0.rendition.name) \($0.isStored)" }
        }
        #expect(try offered() == ["0 E false", "2 S false"])
        try temporary.store(Array(library.missingResources(id, after: nil, in: ["audio-0"]).prefix(1)), of: id)
        #expect(try offered() == ["0 E false", "2 S false"])
        try store(["audio-0"], of: id)
        #expect(try offered() == ["0 E true", "2 S false"])
        #expect(try library.offeredRenditions(of: id)?.variants == [0])
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        try temporary.plan(id, try Self.source(), TemporaryLibrary.rendition(.variant, 1, media))
        #expect(try offered() == ["0 E true", "1 F false", "2 S false"])
        let other = try temporary.enter(from: "media.m3u8")
        #expect(try library.offeredRenditions(of: other)?.entries.count == nil)
        try temporary.plan(other, .media(media), TemporaryLibrary.rendition(.variant, -1, media))
        #expect(try library.offeredRenditions(of: other)?.entries.count == nil)
    }

    @Test func outlineIsThatOfTheCatalog() throws {
        let id = try plan((.variant, 0))
        let empty = try temporary.enter(from: "empty.m3u8")
        #expect(try library.outline(of: id) == AssetOutline(state: .partial, isMediaFile: false, hasRenditions: true))
        let expected = AssetOutline(state: .partial, isMediaFile: false, hasRenditions: false)
        #expect(try library.outline(of: empty) == expected)
        try temporary.complete(id)
        #expect(try library.outline(of: id).state == .complete)
        let origin = TemporaryLibrary.origin
        #expect(try library.identifiersBySource() == [origin + "top.m3u8": id, origin + "empty.m3u8": empty])
        try library.delete(empty)
        #expect(try library.identifiersBySource() == [origin + "top.m3u8": id])
        #expect(storageError { _ = try library.outline(of: empty) }?.code == "not-found")
    }

    // MARK: I-frames

    @Test func incompleteIFramesAreRemoved() throws {
        let id = try plan((.variant, 0), (.iFrames, 0), (.iFrames, 1))
        try store(["i-frames-0"], of: id)
        let iFrames = try library.missingResources(id, after: nil, in: ["i-frames-1"])
        try temporary.store(Array(iFrames.prefix(1)), of: id)
        try library.removeIncompleteIFrames(id)
        // A variant stays, although it is not stored.
        #expect(try library.asset(id).renditions.map(\.folder) == ["variant-0", "i-frames-0"])
        #expect(try temporary.names(of: id).filter { !$0.contains(".") } == ["i-frames-0", "variant-0"])
        let text = try temporary.text("multivariant.m3u8", of: id)
        #expect(text.contains("i-frames-0/media.m3u8") && !text.contains("i-high") && !text.contains("i-frames-1"))
        _ = temporary.files.takeLines()
        try library.removeIncompleteIFrames(id)
        #expect(temporary.files.takeLines() == ["commit"])
    }

    /// The I-frame playlists that a download of all variants, or of one of them, has not stored.
    @Test func omittedIFramePlaylistsAreCounted() throws {
        for (renditions, count) in [
            // A download of all variants stores every I-frame playlist, any other at most one.
            ([(.variant, 0), (.variant, 1)], 2), ([(.variant, 0), (.variant, 1), (.iFrames, 1)], 1),
            ([(.variant, 0), (.variant, 1), (.iFrames, 0), (.iFrames, 1)], 0), ([(.variant, 1)], 1),
            ([(.variant, 0), (.iFrames, 0)], 0), ([(.audio, 0)], 0),
        ] as [([(StoredRendition.Role, Int)], Int)] {
            let id = try plan(renditions)
            #expect(try library.omittedContent(of: id).iFramePlaylists == count, "\(renditions)")
            try library.delete(id)
        }
    }

    @Test func onlyVariantOfASourceHasOneIFramePlaylist() throws {
        let id = try temporary.enter()
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        let source = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=8",
            "v.m3u8",
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8""#,
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=2,URI="j.m3u8""#
        )
        try temporary.plan(id, source, TemporaryLibrary.rendition(.variant, 0, media))
        #expect(try library.omittedContent(of: id).iFramePlaylists == 1)
        let plain = try TemporaryLibrary.multivariant("#EXT-X-STREAM-INF:BANDWIDTH=8", "v.m3u8")
        try temporary.plan(id, plain, TemporaryLibrary.rendition(.variant, 0, media))
        #expect(try library.omittedContent(of: id).isEmpty)
    }

    @Test func contentThatIsNotStoredIsCounted() throws {
        let id = try temporary.enter()
        let media = try TemporaryLibrary.media(
            #"#EXT-X-DATERANGE:ID="a",START-DATE="2026-01-01T00:00:00Z",X-ASSET-URI="https://h/ad.m3u8""#,
            #"#EXT-X-DATERANGE:ID="b",START-DATE="2026-01-01T00:00:00Z",X-ASSET-LIST="https://h/ads.json""#,
            #"#EXT-X-DATERANGE:ID="c",START-DATE="2026-01-01T00:00:00Z""#,
            "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z",
            "#EXT-X-GAP",
            "#EXTINF:4,",
            "0.ts",
            "#EXTINF:4,",
            "1.ts",
            "#EXT-X-GAP",
            "#EXTINF:2.5,",
            "2.ts"
        )
        let source = try TemporaryLibrary.multivariant(
            #"#EXT-X-SESSION-DATA:DATA-ID="title",VALUE="x""#,
            #"#EXT-X-SESSION-DATA:DATA-ID="more",URI="more.json""#,
            "#EXT-X-STREAM-INF:BANDWIDTH=8",
            "v.m3u8",
            #"#EXT-X-IMAGE-STREAM-INF:BANDWIDTH=1,URI="images.m3u8""#
        )
        try temporary.plan(id, source, TemporaryLibrary.rendition(.variant, 0, media))
        let omitted = try library.omittedContent(of: id)
        #expect(omitted.interstitials == 2 && omitted.sessionData == 1 && omitted.imagePlaylists == 1)
        #expect(omitted.gapDuration.description == "6.5" && omitted.iFramePlaylists == 0 && !omitted.isEmpty)
    }

    // MARK: Complete renditions

    @Test func playlistOfCompleteRenditionsHasNoOthers() throws {
        let id = try plan((.variant, 0), (.variant, 1), (.audio, 0), (.audio, 1))
        #expect(try library.playlistOfCompleteRenditions(of: id) == nil)
        try store(["variant-0", "audio-0"], of: id)
        #expect(try library.asset(id).isPlayableOffline)
        let bytes = try #require(try library.playlistOfCompleteRenditions(of: id))
        let playlist = try MultivariantPlaylist(parsing: bytes)
        #expect(playlist.variants.map(\.uri) == ["variant-0/media.m3u8"])
        #expect(playlist.renditions.compactMap(\.uri) == ["audio-0/media.m3u8"])
        try temporary.complete(id)
        #expect(try library.playlistOfCompleteRenditions(of: id) == nil)
    }

    /// The audio of another group does not belong to the variant.
    @Test func variantIsPlayableWithTheAudioOfItsGroup() throws {
        let id = try plan((.variant, 0), (.variant, 1), (.audio, 0), (.audio, 1))
        try store(["variant-1", "audio-0"], of: id)
        #expect(try !library.asset(id).isPlayableOffline)
        #expect(try library.playableFolders(of: id) == [])
        try store(["audio-1"], of: id)
        #expect(try library.asset(id).isPlayableOffline && library.isPlayableOffline(id))
        #expect(try library.playableFolders(of: id) == ["variant-1", "audio-0", "audio-1"])
        let bytes = try #require(try library.playlistOfCompleteRenditions(of: id))
        #expect(try MultivariantPlaylist(parsing: bytes).variants.map(\.uri) == ["variant-1/media.m3u8"])
    }

    /// A rendition of the group of the variant has no URI.
    @Test func variantWithItsOwnAudioIsPlayableWithoutRenditions() throws {
        let id = try plan((.variant, 0), (.variant, 1), (.audio, 0), (.audio, 1))
        try store(["variant-0"], of: id)
        #expect(try library.asset(id).isPlayableOffline)
        let bytes = try #require(try library.playlistOfCompleteRenditions(of: id))
        let playlist = try MultivariantPlaylist(parsing: bytes)
        #expect(playlist.variants.map(\.uri) == ["variant-0/media.m3u8"])
        #expect(playlist.renditions.compactMap(\.uri) == [])
    }

    @Test func summaryHasTheHeightsAndTheLanguages() throws {
        for (attributes, languages, quality, text) in [
            (["RESOLUTION=640x360", "RESOLUTION=1280x720"], ["en", "en", nil], "360p...720p", "en"),
            (["RESOLUTION=640x360", "RESOLUTION=640x360"], [nil, nil, "de"], "360p", "subtitles de"),
            (["FRAME-RATE=25", "FRAME-RATE=30"], [nil, nil, nil], "2 kbit/s", ""),
            (["RESOLUTION=640x360", "FRAME-RATE=30"], ["en", "fr", "de"], "360p", "en,fr (subtitles de)"),
        ] as [([String], [String?], String, String)] {
            let id = try temporary.enter()
            let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
            let source = try TemporaryLibrary.multivariant(
                "#EXT-X-STREAM-INF:BANDWIDTH=1000,\(attributes[0])",
                "low.m3u8",
                "#EXT-X-STREAM-INF:BANDWIDTH=2000,\(attributes[1])",
                "high.m3u8"
            )
            guard case .multivariant(let multivariant) = source else { throw CancellationError() }
            try temporary.plan(
                id,
                source,
                TemporaryLibrary.rendition(.variant, 0, media, variant: multivariant.variants[0]),
                TemporaryLibrary.rendition(.variant, 1, media, variant: multivariant.variants[1]),
                TemporaryLibrary.rendition(.audio, 0, media, language: languages[0]),
                TemporaryLibrary.rendition(.audio, 1, media, language: languages[1]),
                TemporaryLibrary.rendition(.subtitles, 2, media, language: languages[2])
            )
            let summary = try library.summary(id)
            #expect(summary.quality == quality && summary.languages == text)
            try library.delete(id)
        }
    }

    @Test func titleIsChanged() throws {
        let ids = [try temporary.enter("A"), try temporary.enter("B", from: "b.m3u8")]
        try library.setTitle("C", of: ids[0])
        #expect(try library.asset(ids[0]).title == "C" && library.asset(ids[1]).title == "B")
        #expect(storageError { try library.setTitle("C", of: "none") }?.code == "not-found")
    }
}
