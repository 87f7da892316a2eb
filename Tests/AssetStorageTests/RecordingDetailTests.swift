import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests how recordings are continued and ended, and which playlists they have meanwhile.
@Suite struct RecordingDetailTests {
    private let temporary: TemporaryLibrary
    private let id: String

    init() throws {
        temporary = try TemporaryLibrary()
        id = try temporary.enter()
    }

    private var library: AssetLibrary { temporary.library }

    private static let address = ResourceAddress(TemporaryLibrary.origin + "top.m3u8")

    /// Parses a live playlist whose first segment has the media sequence number 10.
    private static func live(_ lines: String...) throws -> MediaPlaylist {
        let header = ["#EXTM3U", "#EXT-X-TARGETDURATION:4", "#EXT-X-MEDIA-SEQUENCE:10"]
        return try MediaPlaylist(
            parsing: Array((header + lines + [""]).joined(separator: "\n").utf8),
            context: PlaylistContext(address: ResourceAddress(TemporaryLibrary.origin + "live.m3u8"))
        )
    }

    private static func plain() throws -> MediaPlaylist {
        try live("#EXTINF:4,", "s10.ts", "#EXTINF:4,", "s11.ts", "#EXTINF:4,", "s12.ts")
    }

    /// Parses a multivariant playlist with variants that have the given attributes.
    private static func source(_ attributes: [String]) throws -> MultivariantPlaylist {
        let lines = attributes.flatMap { ["#EXT-X-STREAM-INF:\($0)", "v.m3u8"] }
        return try MultivariantPlaylist(parsing: Array((["#EXTM3U"] + lines + [""]).joined(separator: "\n").utf8))
    }

    private func begin(_ source: Playlist, _ renditions: [PlannedRendition]) throws -> [RecordingWriter] {
        try library.beginRecording(of: id, source: source, at: Self.address, renditions: renditions).writers
    }

    /// Begins the recording of a media playlist.
    private func begin(_ playlist: MediaPlaylist) throws -> RecordingWriter {
        let writers = try begin(.media(playlist), [TemporaryLibrary.rendition(.variant, -1, playlist)])
        try library.publishRecording(id)
        return try #require(writers.first)
    }

    /// Begins the recording of variants with the given attributes, and returns their directories.
    private func folders(_ attributes: [String]) throws -> [String] {
        let source = try Self.source(attributes)
        let live = try Self.plain()
        var renditions: [PlannedRendition] = []
        for (position, variant) in source.variants.enumerated() {
            renditions.append(TemporaryLibrary.rendition(.variant, position, live, variant: variant))
        }
        return try begin(.multivariant(source), renditions).map(\.folder)
    }

    // MARK: Continued recordings

    @Test func newVariantsHaveDirectoriesOfTheirOwn() throws {
        #expect(try folders(["BANDWIDTH=8"]) == ["variant-0"])
        #expect(try folders(["BANDWIDTH=5", "BANDWIDTH=6"]) == ["variant-1", "variant-2"])
        #expect(try folders(["BANDWIDTH=6", "BANDWIDTH=8"]) == ["variant-2", "variant-0"])
    }

    @Test(
        arguments: [
            (#"BANDWIDTH=8,RESOLUTION=640x360,CODECS="avc1""#, true),
            (#"BANDWIDTH=9,RESOLUTION=640x360,CODECS="avc1""#, false),
            (#"BANDWIDTH=8,RESOLUTION=641x360,CODECS="avc1""#, false),
            (#"BANDWIDTH=8,RESOLUTION=640x361,CODECS="avc1""#, false),
            (#"BANDWIDTH=8,RESOLUTION=640x360,CODECS="hvc1""#, false),
        ]
    )
    func variantIsContinuedIfItsAttributesAreTheSame(attributes: String, isSame: Bool) throws {
        _ = try folders([#"BANDWIDTH=8,RESOLUTION=640x360,CODECS="avc1""#])
        #expect(try folders([attributes]) == [isSame ? "variant-0" : "variant-1"])
    }

    @Test(
        arguments: [(.audio, "en", "audio-0"), (.audio, "fr", "audio-1"), (.subtitles, "en", "subtitles-0")]
            as [(StoredRendition.Role, String, String)]
    )
    func renditionIsContinuedIfItsLanguageIsTheSame(role: StoredRendition.Role, language: String, folder: String) throws
    {
        let source = Playlist.multivariant(try Self.source(["BANDWIDTH=8"]))
        let live = try Self.plain()
        _ = try begin(source, [TemporaryLibrary.rendition(.audio, 0, live, language: "en")])
        let writers = try begin(source, [TemporaryLibrary.rendition(role, 0, live, language: language)])
        #expect(writers.map(\.folder) == [folder])
    }

    /// A media playlist is not continued by a variant of a multivariant playlist.
    @Test func sourceOfAnotherKindIsRecordedApart() throws {
        let live = try Self.plain()
        _ = try begin(live)
        let source = Playlist.multivariant(try Self.source(["BANDWIDTH=8"]))
        #expect(try begin(source, [TemporaryLibrary.rendition(.variant, 0, live)]).map(\.folder) == ["variant-0"])
        #expect(try begin(live).folder == "media")
        let text = try temporary.text("multivariant.m3u8", of: id)
        #expect(text == "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmedia/media.m3u8\n")
    }

    @Test func continuedRecordingHasTheNewURL() throws {
        let live = try Self.plain()
        for name in ["a.m3u8", "b.m3u8"] {
            let rendition = PlannedRendition(
                role: .variant,
                position: -1,
                language: nil,
                variant: nil,
                playlist: live,
                address: ResourceAddress(TemporaryLibrary.origin + name)
            )
            _ = try begin(.media(live), [rendition])
            let addresses = try library.catalog.read { try String.fetchAll($0, sql: "SELECT address FROM rendition") }
            #expect(addresses == [TemporaryLibrary.origin + name])
        }
    }

    @Test func targetDurationOfAContinuedRecordingDoesNotDecrease() throws {
        for (duration, target) in [(4, 4), (6, 6), (4, 6)] {
            _ = try begin(try Self.live("#EXTINF:\(duration),", "s10.ts"))
            let text = try temporary.text("media/media.m3u8", of: id)
            #expect(text.contains("#EXT-X-TARGETDURATION:\(target)\n"), "\(text)")
        }
    }

    @Test func endedRecordingIsContinued() throws {
        let playlist = try Self.plain()
        try temporary.store(begin(playlist).append(0..<1, of: playlist).files.map(\.resource), of: id)
        #expect(try library.endRecording(id, isComplete: true).hasMedia)
        #expect(try library.asset(id).state == .complete && !library.isRecording(id))
        let writer = try begin(playlist)
        #expect(writer.last?.sequence == 10 && writer.end == MediaTime(seconds: 4))
        #expect(try library.asset(id).state == .partial && library.isRecording(id))
        let text = try temporary.text("media/media.m3u8", of: id)
        #expect(text.contains("#EXT-X-PLAYLIST-TYPE:EVENT\n") && !text.contains("#EXT-X-ENDLIST"))
        // Its local playlist has the segments of both runs.
        try temporary.store(writer.append(1..<2, of: playlist).files.map(\.resource), of: id)
        try writer.settle(1)
        #expect(try temporary.text("media/media.m3u8", of: id) == text + "#EXTINF:4,\n000001.ts\n")
    }

    @Test func variantsWithOnePlaylistAreThoseOfTheLastRun() throws {
        let live = try Self.plain()
        let source = try Self.source(["BANDWIDTH=8", "BANDWIDTH=9", "BANDWIDTH=10"])
        for (position, aliases) in [(0, [1, 2]), (2, []), (1, [2])] {
            let rendition = TemporaryLibrary.rendition(
                .variant,
                position,
                live,
                variant: source.variants[0],
                aliases: aliases
            )
            #expect(try begin(.multivariant(source), [rendition]).map(\.position) == [position])
            let entries = try library.plannedEntries(id)
            #expect(entries.map(\.position) == [position] && entries.map(\.aliases) == [aliases])
        }
    }

    /// A live stream has other media each time.
    @Test func playlistsAreNotThoseOfARecording() throws {
        let source = Playlist.multivariant(try Self.source(["BANDWIDTH=8"]))
        #expect(try library.hasPlaylists(source, [], of: id))
        _ = try begin(source, [TemporaryLibrary.rendition(.variant, 0, try Self.plain())])
        #expect(try !library.hasPlaylists(source, [], of: id))
    }

    @Test func keyIsRequestedUntilItIsStored() throws {
        let playlist = try Self.live(
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#,
            "#EXTINF:4,",
            "s10.ts",
            "#EXTINF:4,",
            "s11.ts",
            "#EXTINF:4,",
            "s12.ts"
        )
        let writer = try begin(playlist)
        let first = try writer.append(0..<1, of: playlist).files
        #expect(first.map(\.resource.kind) == [.key, .segment] && first.map(\.position) == [0, 0])
        let second = try writer.append(1..<2, of: playlist).files
        #expect(second.map(\.resource.kind) == [.key, .segment] && second.map(\.position) == [1, 1])
        let key = try #require(second.first?.resource)
        #expect(key.id == first.first?.resource.id)
        try temporary.store([key], of: id)
        #expect(try writer.append(2..<3, of: playlist).files.map(\.resource.kind) == [.segment])
    }

    // MARK: Tags

    @Test func changedTagLeavesTheOtherLines() throws {
        let playlist = try Self.plain()
        _ = try begin(playlist).append(0..<2, of: playlist)
        let known = try library.catalog.read { try Int64.fetchOne($0, sql: "SELECT id FROM rendition") }
        let rendition = try #require(known)
        let changes = [
            RecordedMetadata.Change(former: "#EXTINF:4,", text: "#EXTINF:5,", position: 0),
            RecordedMetadata.Change(former: "#EXTINF:4,", text: "#EXTINF:6,", position: 7),
        ]
        try library.write { try RecordedMetadata.Change.apply(changes, to: rendition, $0) }
        let lines = try library.catalog.read { database in
            try String.fetchAll(database, sql: "SELECT lines FROM recordedSegment ORDER BY position")
        }
        let origin = TemporaryLibrary.origin
        #expect(lines == ["#EXTINF:5,\n\(origin)s10.ts\n", "#EXTINF:4,\n\(origin)s11.ts\n"])
    }

    @Test(arguments: [("abc", "abcd", 2), ("abc", "xyz", 0), ("abcd", "a", 0), ("", "ab", 4)])
    func changeAddsItsBytesTwice(former: String, text: String, count: Int) {
        #expect(RecordedMetadata.Change(former: former, text: text, position: 0).addedByteCount == count)
    }

    // MARK: Playlists

    @Test func playlistsOfAnInterruptedRecordingHaveEnded() throws {
        let playlist = try Self.plain()
        let writer = try begin(playlist)
        let resources = try writer.append(0..<2, of: playlist).files.map(\.resource)
        // No segment is stored, so that the bit rate is unknown.
        #expect(try library.currentPlaylist("multivariant.m3u8", of: id) == nil)
        try temporary.store(Array(resources.prefix(1)), of: id, content: "0123456789")
        try writer.settle(0)
        let multivariant = Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=20\nmedia/media.m3u8\n".utf8)
        #expect(try library.currentPlaylist("multivariant.m3u8", of: id) == multivariant)
        let text = try temporary.text("media/media.m3u8", of: id)
        #expect(text.contains("#EXT-X-PLAYLIST-TYPE:EVENT\n") && text.hasSuffix("000000.ts\n"))
        let ended = text.replacing("PLAYLIST-TYPE:EVENT", with: "PLAYLIST-TYPE:VOD") + "#EXT-X-ENDLIST\n"
        #expect(try library.currentPlaylist("media/media.m3u8", of: id) == Array(ended.utf8))
        for path in ["media/000000.ts", "media/none.m3u8"] {
            #expect(try library.currentPlaylist(path, of: id) == nil, "\(path)")
        }
        do {
            // A process continues the recording.
            let lock = try library.lock(id)
            defer { withExtendedLifetime(lock) {} }
            #expect(try library.currentPlaylist("media/media.m3u8", of: id) == nil)
            #expect(try library.currentPlaylist("multivariant.m3u8", of: id) == multivariant)
        }
        // A recording is no download that was interrupted.
        #expect(try library.playlistOfCompleteRenditions(of: id) == nil)
        #expect(try library.endRecording(id, isComplete: true).hasMedia)
        for path in ["media/media.m3u8", "multivariant.m3u8"] {
            #expect(try library.currentPlaylist(path, of: id) == nil, "\(path)")
        }
        #expect(try temporary.text("media/media.m3u8", of: id) == ended)
    }

    /// A key has bytes, but no duration.
    @Test func keysHaveNoBitRate() throws {
        let playlist = try Self.live(#"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#, "#EXTINF:4,", "s10.ts")
        let writer = try begin(playlist)
        let files = try writer.append(0..<1, of: playlist).files
        try temporary.store(files.filter { !$0.isSegment }.map(\.resource), of: id)
        #expect(try library.currentPlaylist("multivariant.m3u8", of: id) == nil)
    }

    @Test func variantsOfARecordingHaveTheirDeclaredBitRates() throws {
        let live = try Self.plain()
        let source = try Self.source(["BANDWIDTH=8"])
        let rendition = TemporaryLibrary.rendition(.variant, 0, live, variant: source.variants[0])
        let writer = try #require(try begin(.multivariant(source), [rendition]).first)
        try library.publishRecording(id)
        try temporary.store(writer.append(0..<1, of: live).files.map(\.resource), of: id)
        #expect(try library.currentPlaylist("multivariant.m3u8", of: id) == nil)
        #expect(try library.currentPlaylist("variant-0/media.m3u8", of: id) != nil)
        // All files are stored, and further ones may follow.
        #expect(try library.asset(id).isPlayableOffline)
        #expect(try library.playlistOfCompleteRenditions(of: id) == nil)
    }

    /// The playlist of an interrupted recording does not name the segment that was being received.
    @Test func verifiedRecordingNamesStoredSegments() throws {
        let playlist = try Self.plain()
        let writer = try begin(playlist)
        let resources = try writer.append(0..<2, of: playlist).files.map(\.resource)
        try temporary.store([resources[0]], of: id)
        try writer.settle(0)
        let text = try temporary.text("media/media.m3u8", of: id)
        #expect(text.hasSuffix("#EXTINF:4,\n000000.ts\n"))
        #expect(try library.verify(id).damaged.isEmpty)
        #expect(try temporary.text("media/media.m3u8", of: id) == text)
        // The last lines were not on the disk when the machine crashed.
        try Data(text.utf8.prefix(20)).write(to: temporary.url("media/media.m3u8", of: id))
        #expect(try library.verify(id).damaged.isEmpty)
        #expect(try temporary.text("media/media.m3u8", of: id) == text)
    }

    /// Another run can continue the recording, so its playlists have no end marker.
    @Test func shrunkRecordingHasNotEnded() throws {
        let live = try Self.plain()
        let source = try Self.source(["BANDWIDTH=8,RESOLUTION=640x360", "BANDWIDTH=9,RESOLUTION=1280x720"])
        let renditions = source.variants.indices.map {
            TemporaryLibrary.rendition(.variant, $0, live, variant: source.variants[$0])
        }
        let writers = try begin(.multivariant(source), renditions)
        try library.publishRecording(id)
        for writer in writers {
            try temporary.store(writer.append(0..<1, of: live).files.map(\.resource), of: id)
        }
        #expect(try library.shrink(id, to: .maximumHeight(360)).removed.map(\.folder) == ["variant-1"])
        #expect(try library.asset(id).state == .partial && library.isRecording(id))
        #expect(try !temporary.text("variant-0/media.m3u8", of: id).contains("#EXT-X-ENDLIST"))
    }

    @Test func playlistsOfADownloadAreThoseOfItsFiles() throws {
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        try temporary.plan(id, .media(media), TemporaryLibrary.rendition(.variant, -1, media))
        for path in ["media/media.m3u8", "multivariant.m3u8"] {
            #expect(try library.currentPlaylist(path, of: id) == nil, "\(path)")
        }
    }

    // MARK: Ends

    @Test func recordingEndsBeforeASegment() throws {
        let playlist = try Self.plain()
        let writer = try begin(playlist)
        try temporary.store(writer.append(0..<3, of: playlist).files.map(\.resource), of: id)
        for position in 0..<3 { try writer.settle(position) }
        let result = try library.endRecording(id, isComplete: true, endingBefore: ["media": 2, "other": 0])
        #expect(result.hasMedia && result.lostCount == 0)
        #expect(try library.resources(id).map(\.path) == ["media/000000.ts", "media/000001.ts"])
        #expect(try !temporary.names(of: id).contains("media/000002.ts"))
        #expect(try library.asset(id).state == .complete && library.asset(id).duration == MediaTime(seconds: 8))
    }

    @Test func segmentThatIsNotStoredIsAGap() throws {
        let playlist = try Self.plain()
        let writer = try begin(playlist)
        let resources = try writer.append(0..<3, of: playlist).files.map(\.resource)
        try temporary.store([resources[0], resources[2]], of: id)
        let result = try library.endRecording(id, isComplete: true)
        #expect(result.hasMedia && result.lostCount == 1)
        let text = try temporary.text("media/media.m3u8", of: id)
        let segments =
            "#EXTINF:4,\n000000.ts\n#EXT-X-GAP\n#EXTINF:4,\n000001.ts\n#EXTINF:4,\n000002.ts\n#EXT-X-ENDLIST\n"
        #expect(text.hasSuffix(segments), "\(text)")
    }

    @Test func recordingWithoutMediaIsNotComplete() throws {
        let playlist = try Self.plain()
        _ = try begin(playlist).append(0..<2, of: playlist)
        let result = try library.endRecording(id, isComplete: true)
        #expect(!result.hasMedia && result.lostCount == 0)
        #expect(try library.resources(id).isEmpty && library.asset(id).state == .partial)
        #expect(try !library.isRecording(id))
        let count = try library.catalog.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM recordedSegment") }
        #expect(count == 0)
    }
}
