import Foundation
import HLSPlaylist
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests which renditions and files the export of a recording contains.
@Suite struct RecordingExportFaultTests {
    private let temporary: TemporaryLibrary
    private let id: String

    init() throws {
        temporary = try TemporaryLibrary()
        id = try temporary.enter()
    }

    private var library: AssetLibrary { temporary.library }
    private var folder: URL { temporary.directory.appendingPathComponent("exported") }

    /// Parses a live playlist whose first segment has the media sequence number 10.
    private static func live(_ lines: String...) throws -> MediaPlaylist {
        let header = ["#EXTM3U", "#EXT-X-TARGETDURATION:4", "#EXT-X-MEDIA-SEQUENCE:10"]
        return try MediaPlaylist(
            parsing: Array((header + lines + [""]).joined(separator: "\n").utf8),
            context: PlaylistContext(address: ResourceAddress(TemporaryLibrary.origin + "live.m3u8"))
        )
    }

    private static func multivariant(_ lines: String...) throws -> MultivariantPlaylist {
        try MultivariantPlaylist(parsing: Array((["#EXTM3U"] + lines + [""]).joined(separator: "\n").utf8))
    }

    /// Begins the recording of a presentation.
    private func begin(_ source: Playlist, _ renditions: [PlannedRendition]) throws -> [RecordingWriter] {
        let address = ResourceAddress(TemporaryLibrary.origin + "top.m3u8")
        let writers = try library.beginRecording(of: id, source: source, at: address, renditions: renditions).writers
        try library.publishRecording(id)
        return writers
    }

    /// Adds all segments of a media playlist to a recording, and returns their files, which are not stored yet.
    private func record(_ playlist: MediaPlaylist) throws -> [StoredResource] {
        let writers = try begin(.media(playlist), [TemporaryLibrary.rendition(.variant, -1, playlist)])
        let writer = try #require(writers.first)
        return try writer.append(0..<playlist.segments.count, of: playlist).files.map(\.resource)
    }

    private var names: [String] {
        get throws { try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() }
    }

    private func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    // MARK: Renditions

    /// The media of the former variant stays in the package, but no playlist names it.
    @Test func variantOfAnEarlierRunIsNotExported() throws {
        let live = try Self.live("#EXTINF:4,", "s10.ts")
        for rate in [8, 5] {
            let source = try Self.multivariant("#EXT-X-STREAM-INF:BANDWIDTH=\(rate)", "v.m3u8")
            let rendition = TemporaryLibrary.rendition(.variant, 0, live, variant: source.variants[0])
            let writer = try #require(try begin(.multivariant(source), [rendition]).first)
            try temporary.store(writer.append(0..<1, of: live).files.map(\.resource), of: id)
        }
        try library.export(id, to: folder)
        #expect(try names == ["multivariant.m3u8", "variant-1", "variant-1/000000.ts", "variant-1/media.m3u8"])
    }

    @Test(arguments: [([0], false), ([1], false), ([0, 1], true)] as [([Int], Bool)])
    func variantIsExportedWithItsAudio(stored: [Int], isExported: Bool) throws {
        let live = try Self.live("#EXTINF:4,", "s10.ts")
        let source = try Self.multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="en.m3u8""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=8,AUDIO="a""#,
            "v.m3u8"
        )
        let renditions = [
            TemporaryLibrary.rendition(.variant, 0, live, variant: source.variants[0]),
            TemporaryLibrary.rendition(.audio, 0, live, language: "en"),
        ]
        let writers = try begin(.multivariant(source), renditions)
        let files = try writers.map { try $0.append(0..<1, of: live).files.map(\.resource) }
        for index in stored { try temporary.store(files[index], of: id) }
        if isExported {
            try library.export(id, to: folder)
            #expect(try names.filter { !$0.contains(".") } == ["audio-0", "variant-0"])
        } else {
            #expect(storageError { try library.export(id, to: folder) }?.code == "asset-incomplete")
            #expect(!PathCheck.exists(folder))
        }
    }

    // MARK: Files

    @Test func lastSegmentWithoutItsKeyIsLeftOut() throws {
        let resources = try record(
            try Self.live(
                #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#,
                "#EXTINF:4,",
                "s10.ts",
                #"#EXT-X-KEY:METHOD=AES-128,URI="other",IV=0x02"#,
                "#EXTINF:4,",
                "s11.ts"
            )
        )
        try temporary.store(resources.filter { !$0.address.text.hasSuffix("other") }, of: id)
        try library.export(id, to: folder)
        let text = try String(contentsOf: folder.appendingPathComponent("media/media.m3u8"), encoding: .utf8)
        let exported = try MediaPlaylist(parsing: Array(text.utf8))
        #expect(exported.hasEndMarker && exported.segments.map(\.isGap) == [false])
        #expect(try names.filter { $0.hasSuffix(".ts") } == ["media/000000.ts"])
    }

    /// A process that records the stream can still store the missing segments.
    @Test func recordingInProgressIsExportedUpToItsFirstMissingSegment() throws {
        let live = try Self.live(
            "#EXTINF:4,",
            "s10.ts",
            "#EXTINF:4,",
            "s11.ts",
            "#EXTINF:4,",
            "s12.ts",
            "#EXTINF:4,",
            "s13.ts"
        )
        let resources = try record(live)
        try temporary.store([resources[0], resources[2]], of: id)
        let lock = try library.lock(id)
        try library.export(id, to: folder)
        withExtendedLifetime(lock) {}
        #expect(try names.filter { $0.hasSuffix(".ts") } == ["media/000000.ts"])
    }

    @Test func filesOfARecordingHaveTheModesOfNewFiles() throws {
        try temporary.store(record(try Self.live("#EXTINF:4,", "s10.ts")), of: id)
        try library.export(id, to: folder)
        let folderMode = try #require(try mode(folder))
        for name in ["media/000000.ts", "media/media.m3u8", "multivariant.m3u8"] {
            #expect(try mode(folder.appendingPathComponent(name)) == folderMode & 0o666, "\(name)")
        }
        #expect(try mode(folder.appendingPathComponent("media")) == folderMode)
    }

    @Test func recordingWithADamagedFileIsNotExported() throws {
        try temporary.store(record(try Self.live("#EXTINF:4,", "s10.ts")), of: id)
        try FileManager.default.removeItem(at: temporary.url("media/000000.ts", of: id))
        #expect(storageError { try library.export(id, to: folder) }?.code == "package-damaged")
        let found = try FileManager.default.contentsOfDirectory(atPath: temporary.directory.path)
        #expect(!found.contains { $0.contains("exported") })
    }

    /// The lost file can be downloaded again, which gaps in its place would hide.
    @Test func endedRecordingThatLostFilesIsNotExported() throws {
        let playlist = try Self.live(
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#,
            "#EXTINF:4,",
            "s10.ts",
            #"#EXT-X-KEY:METHOD=AES-128,URI="other",IV=0x02"#,
            "#EXTINF:4,",
            "s11.ts",
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x03"#,
            "#EXTINF:4,",
            "s12.ts"
        )
        let resources = try record(playlist)
        try temporary.store(resources.filter { !$0.address.text.hasSuffix("other") }, of: id)
        #expect(storageError { _ = try library.endRecording(id, isComplete: false) }?.code == "asset-incomplete")
        try FileManager.default.removeItem(at: temporary.url("media/000000.ts", of: id))
        #expect(try library.removeMissingFilesFromCatalog(id) == ["media/000000.ts"])
        let error = storageError { try library.export(id, to: folder) }
        #expect(error?.message == "the asset \(id) is not complete; download it again first")
    }

    // MARK: Beginning and end

    /// An earlier process may have left files that the catalog does not know.
    @Test func unknownFilesAreRemovedAtTheBeginning() throws {
        let live = try Self.live("#EXTINF:4,", "s10.ts")
        let renditions = [TemporaryLibrary.rendition(.variant, -1, live)]
        _ = try begin(.media(live), renditions)
        for path in ["media/000099.ts", "other"] {
            try Data("rest".utf8).write(to: temporary.url(path, of: id))
        }
        _ = try begin(.media(live), renditions)
        let found = try temporary.names(of: id)
        #expect(found.contains("media/media.m3u8"))
        #expect(!found.contains("media/000099.ts") && !found.contains("other"))
    }

    @Test func playlistOfARecordingWithoutMediaHasAnEnd() throws {
        _ = try record(try Self.live("#EXTINF:4,", "s10.ts"))
        let result = try library.endRecording(id, isComplete: true)
        #expect(!result.hasMedia && result.lostCount == 0)
        let text = try temporary.text("media/media.m3u8", of: id)
        #expect(text.contains("#EXT-X-PLAYLIST-TYPE:VOD\n") && text.hasSuffix("#EXT-X-ENDLIST\n"))
    }

    // MARK: Current playlists

    /// Only the playlists of recordings are computed.
    @Test func storedPlaylistsOfAnIncompleteDownloadAreCurrent() throws {
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts", "#EXTINF:4,", "1.ts")
        try temporary.plan(id, .media(media), TemporaryLibrary.rendition(.variant, -1, media))
        let missing = try library.missingResources(id)
        try temporary.store(Array(missing.prefix(1)), of: id)
        #expect(try library.outline(of: id).state == .partial)
        for path in ["multivariant.m3u8", "media/media.m3u8"] {
            #expect(try library.currentPlaylist(path, of: id) == nil, "\(path)")
        }
    }

    @Test func bitRateOfOneSecondIsKnown() throws {
        try temporary.store(record(try Self.live("#EXTINF:1,", "s10.ts")), of: id, content: "0123456789")
        let multivariant = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=80\nmedia/media.m3u8\n"
        #expect(try library.currentPlaylist("multivariant.m3u8", of: id) == Array(multivariant.utf8))
    }

    /// The last line may be incomplete after a crash, and the process may end the playlist after the catalog was read.
    @Test func currentPlaylistHasOneEndMarkerInALineOfItsOwn() throws {
        try temporary.store(record(try Self.live("#EXTINF:4,", "s10.ts")), of: id)
        let file = temporary.url("media/media.m3u8", of: id)
        let header = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:"
        for end in ["000000.ts", "000000.ts\n"] {
            try Data("\(header)EVENT\n#EXTINF:4,\n\(end)".utf8).write(to: file)
            let current = try library.currentPlaylist("media/media.m3u8", of: id)
            #expect(current == Array("\(header)VOD\n#EXTINF:4,\n000000.ts\n#EXT-X-ENDLIST\n".utf8))
        }
        try Data("\(header)VOD\n#EXTINF:4,\n000000.ts\n#EXT-X-ENDLIST\n".utf8).write(to: file)
        #expect(try library.currentPlaylist("media/media.m3u8", of: id) == nil)
    }
}
