import AssetStorage
import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

/// Tests how assets are added, which files are planned for them, and which playlists are written.
@Suite struct PlanningTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// Returns each file of an asset as a line: kind, path, address, byte range, start, duration, directory and stored
    /// bytes.
    private func lines(_ id: String) throws -> [String] {
        try library.resources(id).map { file in
            let address = file.address.text.replacing(TemporaryLibrary.origin, with: "")
            let range = file.byteRange?.description ?? "-"
            let time = "\(file.timeRange.start)+\(file.timeRange.duration)"
            let bytes = file.bytes.map { "\($0.bytes)" } ?? "missing"
            return "\(file.kind.rawValue) \(file.path) \(address) \(range) \(time) \(file.folder) \(bytes)"
        }
    }

    private func missing(_ id: String) throws -> [String] { try library.missingResources(id).map(\.path) }

    // MARK: Adding assets

    @Test func addingAnAssetCreatesItsDirectory() throws {
        #expect(temporary.files.takeLines() == [])
        let id = try temporary.enter("A title", from: "a.m3u8?token=1")
        #expect(temporary.files.takeLines() == ["commit", "make folder packages/*", "synchronize folder packages"])
        let asset = try library.asset(id)
        #expect(asset.id == id)
        #expect(asset.title == "A title")
        #expect(asset.source.text == "https://origin.example/a.m3u8?token=1")
        #expect(asset.selection == "all")
        #expect(asset.state == .partial)
        #expect(asset.duration == nil)
        #expect(asset.bytes == .zero)
        #expect(asset.renditions == [])
        #expect(asset.path == "packages/\(id)")
        #expect(!asset.isPlayableOffline)
        #expect(asset.loadedTimeRanges.isEmpty)
        #expect(try temporary.packages == [id])
    }

    @Test func addingASourceAgainKeepsItsTitleAndUpdatesItsSelection() throws {
        let first = try temporary.enter("A")
        let second = try library.addAsset(
            source: ResourceAddress(TemporaryLibrary.origin + "top.m3u8"),
            title: "B",
            selection: "audio"
        )
        #expect(first == second)
        let asset = try library.asset(first)
        #expect(asset.title == "A" && asset.selection == "audio")
        #expect(try library.assets().count == 1)
    }

    @Test func identifiersHaveTwelveUnambiguousCharacters() throws {
        let letters = Set("abcdefghjkmnpqrstuvwxyz23456789")
        var seen: Set<Character> = []
        for number in 0..<60 {
            let id = try temporary.enter(from: "\(number)")
            #expect(id.count == 12)
            seen.formUnion(id)
        }
        #expect(seen == letters)
    }

    @Test(
        arguments: [
            ("make folder packages/*", ENOSPC, "disk-full", "No space left on device"),
            ("make folder packages/*", EIO, "disk-failed", "Input/output error"),
            ("synchronize folder packages", EIO, "disk-failed", "Input/output error"),
        ]
    )
    func directoryThatCannotBeCreatedIsAnError(line: String, number: CInt, code: String, reason: String) throws {
        temporary.files.fail(line, with: number)
        let error = storageError { _ = try temporary.enter() }
        let id = try #require(try library.assets().first?.id)
        #expect(error?.code == code)
        #expect(error?.message == "\(library.packageDirectory(id).path) cannot be written (\(reason))")
        // The next attempt finds the asset and creates its directory.
        temporary.files.stopFailing()
        #expect(try temporary.enter() == id)
        #expect(try temporary.packages == [id])
    }

    // MARK: Planning

    private static func film() throws -> Playlist {
        try TemporaryLibrary.multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="audio.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="text.m3u8""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,CODECS="avc1,mp4a",AUDIO="a",SUBTITLES="s""#,
            "low.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=1600000,RESOLUTION=1280x720,AUDIO="a",SUBTITLES="s""#,
            "high.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=1700000,AUDIO="a",SUBTITLES="s""#,
            "high.m3u8?second"
        )
    }

    private func planFilm() throws -> String {
        let id = try temporary.enter()
        let source = try Self.film()
        guard case .multivariant(let multivariant) = source else { throw StorageError(.damaged, "no film") }
        let video = try TemporaryLibrary.media(
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#,
            "#EXTINF:4,",
            "#EXT-X-BYTERANGE:10@20",
            "0.ts",
            "#EXTINF:3.5,",
            "1.ts"
        )
        try temporary.plan(
            id,
            source,
            TemporaryLibrary.rendition(.variant, 1, video, variant: multivariant.variants[1], aliases: [2]),
            TemporaryLibrary.rendition(.audio, 0, try TemporaryLibrary.media("#EXTINF:7.5,", "en.aac"), language: "en"),
            TemporaryLibrary.rendition(.subtitles, 1, try TemporaryLibrary.media("#EXTINF:7,", "en.vtt"))
        )
        return id
    }

    @Test func planAddsAllFilesAndWritesThePlaylists() throws {
        let id = try planFilm()
        #expect(
            try lines(id) == [
                "key variant-1/key-9f521ab0ec29d751f6cd7f04fad35df8.key key - 0+0 variant-1 missing",
                "segment variant-1/000000.ts 0.ts 10@20 0+4 variant-1 missing",
                "segment variant-1/000001.ts 1.ts - 4+3.5 variant-1 missing",
                "segment audio-0/000000.aac en.aac - 0+7.5 audio-0 missing",
                "subtitle subtitles-1/000000.vtt en.vtt - 0+7 subtitles-1 missing",
            ]
        )
        // Files that are needed first are listed first.
        #expect(
            try missing(id) == [
                "variant-1/key-9f521ab0ec29d751f6cd7f04fad35df8.key", "variant-1/000000.ts", "audio-0/000000.aac",
                "subtitles-1/000000.vtt", "variant-1/000001.ts",
            ]
        )
        #expect(
            try temporary.names(of: id) == [
                ".lock", "audio-0", "audio-0/media.m3u8", "multivariant.m3u8", "subtitles-1",
                "subtitles-1/media.m3u8", "variant-1", "variant-1/media.m3u8",
            ]
        )
        #expect(
            try temporary.text("multivariant.m3u8", of: id) == """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="audio-0/media.m3u8"
                #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="subtitles-1/media.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1600000,RESOLUTION=1280x720,AUDIO="a",SUBTITLES="s"
                variant-1/media.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1700000,AUDIO="a",SUBTITLES="s"
                variant-1/media.m3u8

                """
        )
        #expect(
            try temporary.text("variant-1/media.m3u8", of: id) == """
                #EXTM3U
                #EXT-X-TARGETDURATION:4
                #EXT-X-KEY:METHOD=AES-128,URI="key-9f521ab0ec29d751f6cd7f04fad35df8.key",IV=0x01
                #EXTINF:4,
                000000.ts
                #EXTINF:3.5,
                000001.ts
                #EXT-X-ENDLIST

                """
        )
    }

    @Test func stepsOfAPlanAreSynchronizedInOrder() throws {
        let id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        _ = temporary.files.takeLines()
        try temporary.plan(id, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
        let folders = ["commit", "make folder packages/*/media", "synchronize folder packages/*"]
        #expect(
            temporary.files.takeLines() == folders + [
                "create packages/*/media/media.m3u8.part", "write packages/*/media/media.m3u8.part",
                "synchronize packages/*/media/media.m3u8.part", "close packages/*/media/media.m3u8.part",
                "rename packages/*/media/media.m3u8.part to packages/*/media/media.m3u8",
                "synchronize folder packages/*/media", "create packages/*/multivariant.m3u8.part",
                "write packages/*/multivariant.m3u8.part", "synchronize packages/*/multivariant.m3u8.part",
                "close packages/*/multivariant.m3u8.part",
                "rename packages/*/multivariant.m3u8.part to packages/*/multivariant.m3u8",
                "synchronize folder packages/*",
            ]
        )
        // Existing playlists are not rewritten, but their names may not have been synchronized.
        try temporary.plan(id, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
        #expect(
            temporary.files.takeLines() == folders + [
                "synchronize folder packages/*/media", "synchronize folder packages/*",
            ]
        )
    }

    @Test(
        arguments: [
            "make folder packages/*/media", "synchronize folder packages/*/media", "synchronize folder packages/*",
            "create packages/*/media/media.m3u8.part", "write packages/*/multivariant.m3u8.part",
            "synchronize packages/*/multivariant.m3u8.part",
            "rename packages/*/multivariant.m3u8.part to packages/*/multivariant.m3u8",
        ]
    )
    func failedWriteOfAPlanIsAnError(line: String) throws {
        let id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        func plan() throws {
            try temporary.plan(id, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
        }
        temporary.files.fail(line, with: EDQUOT)
        let error = storageError { try plan() }
        #expect(error?.code == "disk-full")
        let folder = library.packageDirectory(id).path
        let names = [
            "make folder packages/*/media": folder, "synchronize folder packages/*": folder,
            "synchronize folder packages/*/media": folder + "/media",
            "create packages/*/media/media.m3u8.part": folder + "/media/media.m3u8",
        ]
        let path = names[line] ?? folder + "/multivariant.m3u8"
        #expect(error?.message == "\(path) cannot be written (\(String(cString: strerror(EDQUOT))))")
        temporary.files.stopFailing()
        // No unfinished file remains.
        #expect(try temporary.names(of: id).allSatisfy { !$0.hasSuffix(".part") })
        try plan()
        #expect(
            try temporary.names(of: id) == [".lock", "media", "media/media.m3u8", "multivariant.m3u8"]
        )
    }

    @Test func fileThatCannotBeFinishedIsRemoved() throws {
        let id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        temporary.files.fail("write packages/*/multivariant.m3u8.part", with: EIO)
        _ = storageError {
            try temporary.plan(id, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
        }
        let lines = temporary.files.takeLines()
        #expect(
            lines.suffix(2) == [
                "close packages/*/multivariant.m3u8.part", "remove packages/*/multivariant.m3u8.part",
            ]
        )
    }

    /// Variables may be defined in a playlist that is not stored in the package.
    @Test func variablesAreSubstitutedInStoredPlaylists() throws {
        let playlist = try TemporaryLibrary.media(
            #"#EXT-X-DEFINE:NAME="host",VALUE="https://cdn.example""#,
            "#EXTINF:4,",
            "{$host}/0.ts"
        )
        let id = try temporary.planned(playlist)
        #expect(try library.resources(id).map(\.address.text) == ["https://cdn.example/0.ts"])
        try temporary.complete(id)
        #expect(try temporary.text("media/media.m3u8", of: id).contains("\n000000.ts\n"))
    }

    @Test func unknownFilesAreRemovedFromAPackage() throws {
        let id = try planFilm()
        try temporary.store(library.missingResources(id), of: id)
        let before = try temporary.names(of: id)
        for name in ["audio-0/000000.aac.part", "audio-0/stray", "stray", "000000.ts"] {
            try Data("x".utf8).write(to: temporary.url(name, of: id))
        }
        for name in ["unknown/deep", "audio-0/folder"] {
            try FileManager.default.createDirectory(at: temporary.url(name, of: id), withIntermediateDirectories: true)
        }
        try Data("x".utf8).write(to: temporary.url("unknown/deep/file", of: id))
        let elsewhere = temporary.directory.appendingPathComponent("elsewhere")
        try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
        try Data("x".utf8).write(to: elsewhere.appendingPathComponent("kept"))
        try FileManager.default.createSymbolicLink(at: temporary.url("link", of: id), withDestinationURL: elsewhere)
        #expect(try planFilm() == id)
        #expect(try temporary.names(of: id) == (before + ["audio-0/folder"]).sorted())
        #expect(FileManager.default.fileExists(atPath: elsewhere.appendingPathComponent("kept").path))
        #expect(try missing(id) == [])
    }

    /// A symbolic link in place of a directory might point outside the library.
    @Test func symbolicLinkInPlaceOfADirectoryIsNotFollowed() throws {
        let id = try planFilm()
        let elsewhere = temporary.directory.appendingPathComponent("elsewhere")
        try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
        try Data("x".utf8).write(to: elsewhere.appendingPathComponent("kept"))
        try FileManager.default.removeItem(at: temporary.url("audio-0", of: id))
        try FileManager.default.createSymbolicLink(at: temporary.url("audio-0", of: id), withDestinationURL: elsewhere)
        let error = storageError { _ = try planFilm() }
        #expect(error?.code == "not-found")
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == ["kept"])
        #expect(try planFilm() == id)
        #expect(try temporary.text("audio-0/media.m3u8", of: id).hasPrefix("#EXTM3U"))
    }

    // MARK: Unchanged media

    @Test(
        arguments: [
            (["get?n=1", "get?n=2"], ["get?n=1", "get?n=3"]), (["0.ts?n=1", "0.ts?n=2"], ["0.ts?n=1", "0.ts?n=3"]),
            (["0.ts"], ["0.ts", "1.ts"]),
        ]
    )
    func segmentsThatAreInBothPlaylistsAreNotDownloadedAgain(old: [String], new: [String]) throws {
        func playlist(_ segments: [String]) throws -> MediaPlaylist {
            let lines = segments.map { "#EXTINF:4,\n\($0)\n" }.joined()
            return try MediaPlaylist(
                parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n".utf8),
                context: PlaylistContext(address: ResourceAddress(TemporaryLibrary.origin + "media.m3u8"))
            )
        }
        let id = try temporary.planned(try playlist(old))
        try temporary.complete(id)
        #expect(try temporary.planned(try playlist(new)) == id)
        #expect(try library.missingCount(id) == 1)
    }

    /// Signatures in URLs change from load to load; unchanged media is not downloaded again.
    @Test(
        arguments: [
            (["4", "0.ts?s=1", "4", "1.ts?s=1"], ["4", "0.ts?s=2", "4", "1.ts?s=2"], true),
            // Paths without an extension distinguish two segments, but a single such path does not prove that the media
            // is the same.
            (["4", "a?s=1", "4", "b?s=1"], ["4", "a?s=2", "4", "b?s=2"], true),
            (["4", "a?s=1"], ["4", "a?s=1"], true), (["4", "a?s=1"], ["4", "a?s=2"], false),
            (["4", "0.ts?s=1"], ["4", "0.ts?s=2"], true),
            // All segments have the same path: the query distinguishes them.
            (["4", "get?n=1", "4", "get?n=2"], ["4", "get?n=1", "4", "get?n=2"], true),
            (["4", "0.ts?n=1", "4", "1.ts"], ["4", "0.ts?n=1", "4", "1.ts?n=3"], true),
            (["4", "a?n=1", "4", "b.ts"], ["4", "a?n=2", "4", "b.ts"], true),
            (["4", "0.ts"], ["4", "1.ts"], false), (["4", "0.ts"], ["4", "sub/0.ts"], false),
            (["4", "0.ts"], ["3.9", "0.ts"], false),
            (["4", "0.ts", "4", "1.ts"], ["4", "1.ts", "4", "0.ts"], false),
            (["4", "10@0 0.ts?s=1", "4", "10@10 0.ts?s=1"], ["4", "10@0 0.ts?s=2", "4", "10@10 0.ts?s=2"], true),
            (["4", "10@0 a?s=1", "4", "10@10 a?s=1"], ["4", "10@0 a?s=2", "4", "10@10 a?s=2"], true),
            (["4", "10@0 0.ts"], ["4", "0.ts"], false),
        ]
    )
    func unchangedMediaIsNotDownloadedAgain(old: [String], new: [String], isSame: Bool) throws {
        func playlist(_ segments: [String]) throws -> MediaPlaylist {
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
            for pair in stride(from: 0, to: segments.count, by: 2) {
                text += "#EXTINF:\(segments[pair]),\n"
                let parts = segments[pair + 1].split(separator: " ")
                if parts.count == 2 { text += "#EXT-X-BYTERANGE:\(parts[0])\n" }
                text += "\(parts.last ?? "")\n"
            }
            return try MediaPlaylist(
                parsing: Array((text + "#EXT-X-ENDLIST\n").utf8),
                context: PlaylistContext(address: ResourceAddress(TemporaryLibrary.origin + "media.m3u8"))
            )
        }
        let id = try temporary.planned(try playlist(old))
        try temporary.complete(id)
        let stored = try library.resources(id).map { "\($0.path) \($0.bytes?.bytes ?? -1)" }
        #expect(try temporary.planned(try playlist(new)) == id)
        #expect(try library.asset(id).state == (isSame ? .complete : .partial))
        let resources = try library.resources(id)
        #expect(resources.count == new.count / 2)
        if isSame {
            #expect(try missing(id) == [])
            #expect(resources.map { "\($0.path) \($0.bytes?.bytes ?? -1)" } == stored)
            #expect(try library.verify(id) == VerificationResult(damaged: [], withoutChecksum: 0))
        } else {
            #expect(try library.missingCount(id) == new.count / 2)
            #expect(try temporary.names(of: id) == [".lock", "media", "media/media.m3u8", "multivariant.m3u8"])
        }
        // The new address is used in either case.
        #expect(resources.last?.address.text.hasSuffix(new.last?.split(separator: " ").last ?? "-") == true)
    }

    /// A key with another address is another key, even if the media is the same.
    @Test func onlyUnchangedFilesAreKept() throws {
        func playlist(_ key: String, _ map: String) throws -> MediaPlaylist {
            try TemporaryLibrary.media(
                #"#EXT-X-KEY:METHOD=AES-128,URI="\#(key)",IV=0x01"#,
                #"#EXT-X-MAP:URI="\#(map)""#,
                "#EXTINF:4,",
                "0.m4s"
            )
        }
        let id = try temporary.planned(try playlist("key?id=1", "init.mp4"))
        try temporary.complete(id)
        #expect(try temporary.planned(try playlist("key", "init.mp4")) == id)
        #expect(try missing(id) == ["media/key-9f521ab0ec29d751f6cd7f04fad35df8.key"])
        try temporary.complete(id)
        #expect(try temporary.planned(try playlist("key", "other.mp4")) == id)
        #expect(try library.missingResources(id).map(\.address.lastPathComponent) == ["other.mp4"])
    }

    // MARK: Changed sources

    private func variantLines(_ variants: [String]) -> [String] {
        variants.enumerated().flatMap { position, text in
            let parts = text.split(separator: " ").map(String.init)
            return ["#EXT-X-STREAM-INF:\(parts.dropFirst().joined(separator: ","))", parts[0]]
        }
    }

    private func source(_ lines: [String]) throws -> Playlist {
        try Playlist.parse(Array((["#EXTM3U"] + lines + [""]).joined(separator: "\n").utf8))
    }

    /// A variant is identified by its path, bandwidth and resolution; the query is treated as a signature.
    @Test(
        arguments: [
            ("v.m3u8?s=2 BANDWIDTH=8 RESOLUTION=640x360", true), ("w.m3u8?s=1 BANDWIDTH=8 RESOLUTION=640x360", false),
            ("v.m3u8?s=1 BANDWIDTH=9 RESOLUTION=640x360", false), ("v.m3u8?s=1 BANDWIDTH=8 RESOLUTION=640x480", false),
            ("v.m3u8?s=1 BANDWIDTH=8", false),
        ]
    )
    func variantIsRecognizedAtAnotherPosition(text: String, isFound: Bool) throws {
        let id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        let old = try source(variantLines(["v.m3u8?s=1 BANDWIDTH=8 RESOLUTION=640x360"]))
        try temporary.plan(id, old, TemporaryLibrary.rendition(.variant, 0, playlist))
        try temporary.complete(id)
        let new = try source(variantLines(["new.m3u8 BANDWIDTH=5", text]))
        try temporary.plan(id, new, TemporaryLibrary.rendition(.variant, 1, playlist))
        #expect(try missing(id) == (isFound ? [] : ["variant-1/000000.ts"]))
        let folder = isFound ? "variant-0" : "variant-1"
        #expect(try library.asset(id).renditions.map(\.folder) == [folder])
        #expect(
            try temporary.text("multivariant.m3u8", of: id)
                == "#EXTM3U\n\(variantLines([text])[0])\n\(folder)/media.m3u8\n"
        )
    }

    /// A rendition is identified by its type, group, name, language and path.
    @Test(
        arguments: [
            (#"TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="e.m3u8?s=2""#, true),
            (#"TYPE=SUBTITLES,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="e.m3u8?s=1""#, false),
            (#"TYPE=AUDIO,GROUP-ID="b",NAME="E",LANGUAGE="en",URI="e.m3u8?s=1""#, false),
            (#"TYPE=AUDIO,GROUP-ID="a",NAME="F",LANGUAGE="en",URI="e.m3u8?s=1""#, false),
            (#"TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="fr",URI="e.m3u8?s=1""#, false),
            (#"TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="e.m3u8?s=1""#, false),
            (#"TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="f.m3u8?s=1""#, false),
        ]
    )
    func renditionIsRecognizedAtAnotherPosition(text: String, isFound: Bool) throws {
        let id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.aac")
        let variant = ["#EXT-X-STREAM-INF:BANDWIDTH=8", "v.m3u8"]
        let rendition = #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="e.m3u8?s=1""#
        let old = try source([rendition] + variant)
        try temporary.plan(id, old, TemporaryLibrary.rendition(.audio, 0, playlist))
        try temporary.complete(id)
        let other = #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="o",NAME="O""#
        let new = try source([other, "#EXT-X-MEDIA:\(text)"] + variant)
        try temporary.plan(id, new, TemporaryLibrary.rendition(.audio, 1, playlist))
        #expect(try missing(id) == (isFound ? [] : ["audio-1/000000.aac"]))
        #expect(try library.asset(id).renditions.map(\.folder) == [isFound ? "audio-0" : "audio-1"])
    }

    /// The directory of another rendition is not reused.
    @Test func newVariantGetsASeparateDirectory() throws {
        let id = try temporary.enter()
        let first = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        let second = try TemporaryLibrary.media("#EXTINF:4,", "1.ts")
        let third = try TemporaryLibrary.media("#EXTINF:4,", "2.ts")
        try temporary.plan(
            id,
            try source(variantLines(["a.m3u8 BANDWIDTH=1", "b.m3u8 BANDWIDTH=2"])),
            TemporaryLibrary.rendition(.variant, 0, first),
            TemporaryLibrary.rendition(.variant, 1, second)
        )
        try temporary.complete(id)
        try temporary.plan(
            id,
            try source(variantLines(["new.m3u8 BANDWIDTH=3", "b.m3u8 BANDWIDTH=2", "a.m3u8 BANDWIDTH=1"])),
            TemporaryLibrary.rendition(.variant, 0, third),
            TemporaryLibrary.rendition(.variant, 1, second),
            TemporaryLibrary.rendition(.variant, 2, first)
        )
        #expect(try library.asset(id).renditions.map(\.folder) == ["variant-2", "variant-1", "variant-0"])
        #expect(try missing(id) == ["variant-2/000000.ts"])
        #expect(
            try temporary.text("multivariant.m3u8", of: id) == """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=3
                variant-2/media.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=2
                variant-1/media.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1
                variant-0/media.m3u8

                """
        )
    }

    /// Two renditions with the same role, or the same position, have separate directories.
    @Test func renditionsAtTheSamePositionHaveSeparateDirectories() throws {
        let id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        try temporary.plan(
            id,
            try Self.film(),
            TemporaryLibrary.rendition(.variant, 0, playlist),
            TemporaryLibrary.rendition(.audio, 0, playlist),
            TemporaryLibrary.rendition(.video, 0, playlist),
            TemporaryLibrary.rendition(.variant, 0, playlist)
        )
        let folders = ["variant-0", "audio-0", "video-0", "variant-1"]
        #expect(try library.asset(id).renditions.map(\.folder) == folders)
        #expect(try library.asset(id).renditions.map(\.role) == [.variant, .audio, .video, .variant])
        #expect(try library.resources(id).map(\.folder) == folders)
        // The playlist refers to the first rendition of a position.
        let text = try temporary.text("multivariant.m3u8", of: id)
        #expect(text.contains("variant-0/media.m3u8") && !text.contains("variant-1/media.m3u8"))
        #expect(text.contains("audio-0/media.m3u8") && !text.contains("video-0/media.m3u8"))
    }

    @Test func aliasesFollowTheirVariants() throws {
        let id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        let lines = ["a.m3u8 BANDWIDTH=1", "a.m3u8 BANDWIDTH=2", "a.m3u8 BANDWIDTH=3"]
        try temporary.plan(
            id,
            try source(variantLines(lines)),
            TemporaryLibrary.rendition(.variant, 0, playlist, aliases: [1, 2])
        )
        try temporary.complete(id)
        // The first variant was removed and the others changed places: the rendition belongs to the remaining variants.
        let reordered = try source(variantLines([lines[2], "new.m3u8 BANDWIDTH=9", lines[1]]))
        try temporary.plan(id, reordered)
        #expect(try missing(id) == [])
        #expect(
            try temporary.text("multivariant.m3u8", of: id) == """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=3
                variant-0/media.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=2
                variant-0/media.m3u8

                """
        )
        // If it is planned at the first of its positions, it is the same rendition.
        try temporary.plan(id, reordered, TemporaryLibrary.rendition(.variant, 2, playlist, aliases: [0]))
        #expect(try missing(id) == [])
        #expect(try library.asset(id).renditions.map(\.folder) == ["variant-0"])
        // A source with none of these variants has no stored files.
        let new = try source(variantLines(["new.m3u8 BANDWIDTH=9"]))
        try temporary.plan(id, new, TemporaryLibrary.rendition(.variant, 0, playlist))
        #expect(try missing(id) == ["variant-0/000000.ts"])
    }

    /// Indistinguishable entries keep their positions while the source does not change.
    @Test func unchangedSourceKeepsThePositions() throws {
        let id = try temporary.enter()
        let same = try source(variantLines(["a.m3u8 BANDWIDTH=1", "a.m3u8 BANDWIDTH=1"]))
        let renditions = [
            TemporaryLibrary.rendition(.variant, 0, try TemporaryLibrary.media("#EXTINF:4,", "0.ts")),
            TemporaryLibrary.rendition(.variant, 1, try TemporaryLibrary.media("#EXTINF:4,", "1.ts")),
        ]
        for _ in 0..<2 {
            try temporary.plan(id, same, renditions[0], renditions[1])
            try temporary.complete(id)
            #expect(try library.asset(id).renditions.map(\.folder) == ["variant-0", "variant-1"])
        }
        let first = try source(variantLines(["a.m3u8 BANDWIDTH=1", "a.m3u8 BANDWIDTH=1", "b.m3u8 BANDWIDTH=1"]))
        try temporary.plan(id, first, renditions[0])
        #expect(try missing(id) == [])
    }

    @Test func filesOfAMediaPlaylistSourceAreKeptWhileItIsAMediaPlaylist() throws {
        let old = try TemporaryLibrary.media("#EXTINF:4,", "0.ts?s=1")
        let id = try temporary.planned(old)
        try temporary.complete(id)
        let new = try TemporaryLibrary.media("#EXTINF:4,", "0.ts?s=2")
        try temporary.plan(id, .media(new), TemporaryLibrary.rendition(.variant, -1, new))
        #expect(try missing(id) == [])
        try temporary.plan(
            id,
            try source(variantLines(["a.m3u8 BANDWIDTH=1"])),
            TemporaryLibrary.rendition(.variant, 0, new)
        )
        #expect(try missing(id) == ["variant-0/000000.ts"])
        #expect(try library.asset(id).renditions.map(\.folder) == ["variant-0"])
    }

    @Test func sourceThatBecomesAMediaPlaylistLosesItsRenditions() throws {
        let id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        let old = try source(variantLines(["a.m3u8 BANDWIDTH=1"]))
        try temporary.plan(id, old, TemporaryLibrary.rendition(.variant, 0, playlist))
        try temporary.complete(id)
        try temporary.plan(id, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
        #expect(try library.asset(id).renditions.map(\.folder) == ["media"])
        #expect(try missing(id) == ["media/000000.ts"])
    }

    @Test func sourceIsStoredUnchanged() throws {
        let id = try planFilm()
        let database = try DatabaseQueue(path: temporary.directory.path + "/catalogue.sqlite")
        let row = try #require(
            try database.read { try Row.fetchOne($0, sql: "SELECT sourcePlaylist, sourceAddress FROM asset") }
        )
        let (playlist, address): (Data, String) = (row["sourcePlaylist"], row["sourceAddress"])
        #expect(Array(playlist) == (try Self.film()).bytes)
        #expect(address == "https://origin.example/top.m3u8")
        let renditions = try database.read {
            try Row.fetchAll($0, sql: "SELECT assetID, folder, position, aliases, language, address FROM rendition")
                .map(\.description)
        }
        #expect(
            renditions == [
                #"[assetID:"\#(id)" folder:"variant-1" position:1 aliases:"2" language:NULL "#
                    + #"address:"https://origin.example/media.m3u8"]"#,
                #"[assetID:"\#(id)" folder:"audio-0" position:0 aliases:"" language:"en" "#
                    + #"address:"https://origin.example/media.m3u8"]"#,
                #"[assetID:"\#(id)" folder:"subtitles-1" position:1 aliases:"" language:NULL "#
                    + #"address:"https://origin.example/media.m3u8"]"#,
            ]
        )
    }

    @Test func renditionThatIsNotPlannedAgainIsKept() throws {
        let id = try planFilm()
        try temporary.complete(id)
        try temporary.plan(id, try Self.film())
        #expect(try library.asset(id).renditions.map(\.folder) == ["variant-1", "audio-0", "subtitles-1"])
        #expect(try missing(id) == [])
        #expect(try library.asset(id).state == .complete)
    }

    // MARK: The multivariant playlist of a package whose source is a media playlist

    @Test(
        arguments: [
            // 10 bytes in 8 seconds.
            (["#EXTINF:4,", "0.ts", "#EXTINF:4,", "1.ts"], "01234", 10),
            (["#EXTINF:4,", "0.ts"], "0123456789", 20), (["#EXTINF:4,", "0.ts"], "", 1),
            // Less than one bit per second.
            (["#EXTINF:100,", "0.ts"], "0", 1),
            // A duration of zero counts as one millisecond.
            (["#EXTINF:0,", "0.ts"], "012", 24_000),
        ]
    )
    func bandwidthIsTheAverageBitRate(segments: [String], content: String, bandwidth: Int) throws {
        let text = (["#EXTM3U", "#EXT-X-TARGETDURATION:100"] + segments + ["#EXT-X-ENDLIST", ""])
        let playlist = try MediaPlaylist(
            parsing: Array(text.joined(separator: "\n").utf8),
            context: PlaylistContext(address: ResourceAddress(TemporaryLibrary.origin + "media.m3u8"))
        )
        let id = try temporary.planned(playlist)
        let before = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmedia/media.m3u8\n"
        #expect(try temporary.text("multivariant.m3u8", of: id) == before)
        try temporary.store(library.missingResources(id), of: id, content: content)
        try library.finish(id)
        #expect(
            try temporary.text("multivariant.m3u8", of: id)
                == "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth)\nmedia/media.m3u8\n"
        )
    }
}
