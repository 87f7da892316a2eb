import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests downloads of edited presentations.
@Suite struct EditedDownloadTests {
    private let temporary: TemporaryLibrary
    private static let root = "https://origin.example/"

    init() throws { temporary = try TemporaryLibrary() }

    private static let video = """
        #EXTM3U
        #EXT-X-TARGETDURATION:10
        #EXT-X-KEY:METHOD=AES-128,URI="key"
        #EXTINF:10,
        0.ts
        #EXT-X-CUE-OUT:10
        #EXTINF:10,
        ad.ts
        #EXT-X-CUE-IN
        #EXTINF:10,
        2.ts
        #EXT-X-ENDLIST

        """

    private static let texts = [
        root + "main.m3u8": """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",DEFAULT=YES,URI="audio.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="text.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,CODECS="avc1.64001e,mp4a.40.2",AUDIO="a",SUBTITLES="s"
        video.m3u8

        """,
        root + "video.m3u8": video,
        root + "audio.m3u8": """
        #EXTM3U
        #EXT-X-TARGETDURATION:10
        #EXTINF:10,
        a0.aac
        #EXTINF:10,
        a1.aac
        #EXTINF:10,
        a2.aac
        #EXT-X-ENDLIST

        """,
        root + "text.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:30\n#EXTINF:30,\ntext.vtt\n#EXT-X-ENDLIST\n",
        root + "text.vtt": """
        WEBVTT

        00:05.000 --> 00:06.000
        first

        00:15.000 --> 00:16.000
        in the break

        00:25.000 --> 00:26.000
        last

        """,
        root + "key": "0123456789abcdef", root + "0.ts": "zero", root + "ad.ts": "advertisement", root + "2.ts": "two",
        root + "a0.aac": "audio 0", root + "a1.aac": "audio 1", root + "a2.aac": "audio 2",
    ]

    private func selection(_ edits: [(String, String)]) throws -> DownloadSelection {
        var selection = DownloadSelection()
        selection.edits = EditPlan(try edits.map { try PlaylistEdit(name: $0.0, value: $0.1) })
        return selection
    }

    private func download(
        _ selection: DownloadSelection,
        from origin: ScriptedTransport = ScriptedTransport(texts: texts)
    ) async throws -> StoredAsset {
        try await download(DownloadConfiguration(selection: selection), from: origin)
    }

    private func download(
        _ configuration: DownloadConfiguration,
        from origin: ScriptedTransport = ScriptedTransport(texts: texts)
    ) async throws -> StoredAsset {
        try await AssetDownload(
            ResourceAddress(Self.root + "main.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(
                SchemeTransport(http: origin, file: FileTransport()),
                policy: RecoveryPolicy(retries: 0)
            ),
            configuration: configuration
        ).run()
    }

    private func stored(_ path: String, of asset: StoredAsset) throws -> String {
        try String(
            contentsOf: temporary.library.packageDirectory(asset.id).appendingPathComponent(path),
            encoding: .utf8
        )
    }

    @Test func segmentsOfBreaksAreNotDownloadedInAnyTrack() async throws {
        let origin = ScriptedTransport(texts: Self.texts)
        let asset = try await download(try selection([("exclude", "cues")]), from: origin)
        #expect(asset.state == .complete && asset.isPlayableOffline && asset.duration == MediaTime(seconds: 20))
        let requested = origin.requestedAddresses.map { $0.dropFirst(Self.root.count) }
        #expect(!requested.contains("ad.ts") && !requested.contains("a1.aac"))
        let playlist = try stored("variant-0/media.m3u8", of: asset)
        #expect(playlist.contains("EXT-X-DISCONTINUITY") && !playlist.contains("CUE"))
        // The file of the subtitles is stored as the two parts that remain.
        let names = try Playlist.parse(Array(try stored("subtitles-1/media.m3u8", of: asset).utf8)).addresses.map(\.uri)
        #expect(names.count == 2)
        let parts = try names.map { try stored("subtitles-1/\($0)", of: asset) }
        #expect(parts[0].contains("first") && !parts[0].contains("break") && !parts[0].contains("last"))
        #expect(!parts[1].contains("first") && !parts[1].contains("break") && parts[1].contains("last"))
    }

    @Test func aLaterDownloadOfTheWholeReusesWhatIsStored() async throws {
        _ = try await download(try selection([("exclude", "address=ad.ts")]))
        let origin = ScriptedTransport(texts: Self.texts)
        let asset = try await download(DownloadSelection(), from: origin)
        #expect(asset.duration == MediaTime(seconds: 30))
        let media = origin.requestedAddresses.filter { $0.hasSuffix("ts") || $0.hasSuffix("aac") }
        #expect(Set(media) == [Self.root + "ad.ts", Self.root + "a1.aac"])
        #expect(try stored("variant-0/media.m3u8", of: asset).contains("CUE-OUT"))
    }

    @Test func aRepairLoadsThePlaylistsWithTheSameEdits() async throws {
        let asset = try await download(try selection([("exclude", "cues")]))
        let folder = temporary.library.packageDirectory(asset.id)
        try FileManager.default.removeItem(at: folder.appendingPathComponent("variant-0/000001.ts"))
        var texts = Self.texts
        // The first address of the segment has expired.
        texts[Self.root + "video.m3u8"] = Self.video.replacingOccurrences(of: "2.ts", with: "2.ts?again")
        texts[Self.root + "2.ts"] = nil
        texts[Self.root + "2.ts?again"] = "two"
        var responses = texts.mapValues { [ScriptedTransport.Response.text($0)] }
        responses[Self.root + "2.ts"] = [
            .failure(TransportError(.status, "expired", status: 403))
        ]
        let result = try await AssetRepair(
            asset.id,
            in: temporary.library,
            loader: ResourceLoader(ScriptedTransport(responses), policy: RecoveryPolicy(retries: 0))
        ).run()
        #expect(result.failure == nil && result.repaired == ["variant-0/000001.ts"])
        let repaired = try temporary.library.asset(asset.id)
        #expect(repaired.state == .complete && repaired.duration == MediaTime(seconds: 20))
    }

    @Test func storedMediaIsNotDeletedByEdits() async throws {
        let whole = try await download(DownloadSelection())
        let title = whole.title
        for edits in [[("content-types", "audio")], [("exclude", "cues")], [("duration", "10")]] {
            var configuration = DownloadConfiguration(selection: try selection(edits))
            configuration.title = "Another title"
            let error = try await #require(throws: DownloadError.self) { try await download(configuration) }
            #expect(error.detail == "would-delete", "\(edits): \(error.message)")
            let asset = try temporary.library.asset(whole.id)
            #expect(asset.state == .complete && asset.duration == whole.duration && asset.title == title)
            #expect(asset.selection == whole.selection && asset.renditions.count == whole.renditions.count)
        }
        var configuration = DownloadConfiguration(selection: try selection([("duration", "10")]))
        configuration.replacesStoredSegments = true
        #expect(try await download(configuration).duration == MediaTime(seconds: 10))
    }

    @Test func anotherPartOfSubtitlesIsLoadedAgain() async throws {
        _ = try await download(try selection([("trim", "0...10")]))
        var configuration = DownloadConfiguration(selection: try selection([("trim", "20...30")]))
        configuration.replacesStoredSegments = true
        let asset = try await download(configuration)
        let names = try Playlist.parse(Array(try stored("subtitles-1/media.m3u8", of: asset).utf8)).addresses.map(\.uri)
        let text = try stored("subtitles-1/\(try #require(names.first))", of: asset)
        #expect(names.count == 1 && text.contains("last") && !text.contains("first"))
    }

    @Test func aRemotePlaylistCannotReadFilesBecauseAnEditInsertsOne() async throws {
        let secret = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())")
        let advertisement = secret.appendingPathExtension("m3u8")
        defer { for file in [secret, advertisement] { try? FileManager.default.removeItem(at: file) } }
        try Data("secret".utf8).write(to: secret)
        try Data("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nad.ts\n#EXT-X-ENDLIST\n".utf8).write(to: advertisement)
        var texts = Self.texts
        texts[Self.root + "video.m3u8"] = Self.video.replacingOccurrences(of: "2.ts", with: "file://\(secret.path)")
        let edited = try selection([("append", ResourceAddress(filePath: advertisement.path).text)])
        let error = try await #require(throws: DownloadError.self) {
            try await download(edited, from: ScriptedTransport(texts: texts))
        }
        #expect(error.message.contains("local file"))
    }

    @Test func aRemotePlaylistCannotReadFilesBecauseALocalOneNamesIt() async throws {
        let secret = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())")
        let top = secret.appendingPathExtension("m3u8")
        defer { for file in [secret, top] { try? FileManager.default.removeItem(at: file) } }
        try Data("secret".utf8).write(to: secret)
        try Data("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n\(Self.root)video.m3u8\n".utf8).write(to: top)
        var texts = Self.texts
        texts[Self.root + "video.m3u8"] = Self.video.replacingOccurrences(of: "2.ts", with: "file://\(secret.path)")
        let origin = ScriptedTransport(texts: texts)
        let download = AssetDownload(
            ResourceAddress(filePath: top.path),
            into: temporary.library,
            loader: ResourceLoader(
                SchemeTransport(http: origin, file: FileTransport()),
                policy: RecoveryPolicy(retries: 0)
            ),
            configuration: DownloadConfiguration(selection: DownloadSelection())
        )
        let error = try await #require(throws: DownloadError.self) { try await download.run() }
        #expect(error.code == .notAPlaylist && error.message.contains("local file"), "\(error)")
    }

    @Test func audioAloneIsPlayable() async throws {
        let origin = ScriptedTransport(texts: Self.texts)
        let asset = try await download(try selection([("content-types", "audio")]), from: origin)
        #expect(asset.state == .complete && asset.isPlayableOffline && asset.renditions.allSatisfy { $0.height == nil })
        #expect(origin.requestedAddresses.allSatisfy { !$0.hasSuffix("ts") && !$0.hasSuffix("vtt") })
        let multivariant = try stored("multivariant.m3u8", of: asset)
        #expect(multivariant.contains("CODECS=\"mp4a.40.2\"") && !multivariant.contains("RESOLUTION"))
    }

    /// The audio becomes the media of the variant, also in place of a variant with the audio of another language.
    @Test(arguments: [false, true])
    func withoutVideoOnlyTheSelectedLanguageIsStored(hasAudioVariant: Bool) async throws {
        let segments = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n"
        let audioVariant = "#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS=\"mp4a.40.2\",AUDIO=\"a\"\nen.m3u8\n"
        let texts = [
            Self.root + "main.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="K",LANGUAGE="ko",URI="ko.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,CODECS="avc1.64001e,mp4a.40.2",AUDIO="a"
            video.m3u8
            \(hasAudioVariant ? audioVariant : "")
            """,
            Self.root + "en.m3u8": segments + "en.aac\n#EXT-X-ENDLIST\n",
            Self.root + "ko.m3u8": segments + "ko.aac\n#EXT-X-ENDLIST\n",
            Self.root + "en.aac": "English", Self.root + "ko.aac": "Korean",
        ]
        var korean = try selection([("content-types", "audio")])
        korean.audio = .some(["ko"])
        let origin = ScriptedTransport(texts: texts)
        let asset = try await download(korean, from: origin)
        #expect(asset.isPlayableOffline && asset.renditions.map(\.role) == [.variant])
        #expect(!origin.requestedAddresses.contains { $0.hasPrefix(Self.root + "en.") })
        let multivariant = try stored("multivariant.m3u8", of: asset)
        #expect(multivariant.contains("LANGUAGE=\"ko\"") && !multivariant.contains("LANGUAGE=\"en\""))
        let media = temporary.library.packageDirectory(asset.id).appendingPathComponent("variant-0/000000.aac")
        try FileManager.default.removeItem(at: media)
        let repair = try AssetRepair(asset.id, in: temporary.library, loader: ResourceLoader(origin))
        #expect(try await repair.run().failure == nil)
        #expect(try String(contentsOf: media, encoding: .utf8) == "Korean")
        var french = korean
        french.audio = .some(["fr"])
        let error = try await #require(throws: DownloadError.self) {
            try await download(french, from: ScriptedTransport(texts: texts))
        }
        #expect(error.code == .nothingSelected)
        #expect(error.hint == "available: en (E), ko (K); select by language, name or LANGUAGE:NAME")
    }

    @Test func subtitlesAloneAreStored() async throws {
        let origin = ScriptedTransport(texts: Self.texts)
        let asset = try await download(
            DownloadSelection(variants: .none, audio: .none, subtitles: .all),
            from: origin
        )
        #expect(asset.state == .complete && !asset.isPlayableOffline)
        #expect(asset.renditions.map(\.role) == [.subtitles])
        #expect(Set(origin.requestedAddresses.map { $0.suffix(3) }) == ["3u8", "vtt"])
        #expect(!origin.requestedAddresses.contains(Self.root + "video.m3u8"))
        // A later download adds the rest.
        let whole = try await download(DownloadSelection())
        #expect(whole.id == asset.id && whole.isPlayableOffline)
    }

    @Test func theKeyOfTheUserIsStored() async throws {
        var texts = Self.texts
        texts[Self.root + "key"] = nil
        let digits = "00112233445566778899aabbccddeeff"
        let origin = ScriptedTransport(texts: texts)
        // One block that begins like a transport stream or ADTS, encrypted with the key; the initialization vectors are 0, 1 and 2.
        for (name, encrypted) in [
            ("0.ts", "5d5aae551d2030f7866af66fe426b98c"), ("ad.ts", "4fe293fe4298ac2e9ea4cf9ff58ceb25"),
            ("2.ts", "956beaa137b178a5ab679606716843e6"), ("a0.aac", "4f8cb59de6e76fb6ec40ec0a4289f521"),
            ("a1.aac", "65859710a8bedc767391bd4f4840fb15"), ("a2.aac", "721052d40325dd548318fe68006261dd"),
        ] {
            origin.setResponses(for: Self.root + name, .bytes(try #require(SegmentKey(encrypted)).bytes))
        }
        let asset = try await download(try selection([("key", digits)]), from: origin)
        let folder = temporary.library.packageDirectory(asset.id).appendingPathComponent("variant-0")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".key") }
        let key = try Data(contentsOf: folder.appendingPathComponent(try #require(names.first)))
        #expect(names.count == 1 && Array(key) == SegmentKey(digits)?.bytes)
    }

    @Test func editsThatLeaveNothingAreRefused() async throws {
        let error = try await #require(throws: DownloadError.self) {
            try await download(try selection([("bandwidth", "9M...")]))
        }
        #expect(error.code == .nothingSelected && error.message.contains("bandwidth"))
        let late = try await #require(throws: DownloadError.self) {
            try await download(try selection([("start", "90")]))
        }
        #expect(late.code == .cannotEdit && late.detail == "time-outside")
    }

    @Test func aRecordingIsNotEdited() async throws {
        var configuration = DownloadConfiguration(selection: try selection([("exclude", "cues")]))
        configuration.recording = RecordingOptions()
        let error = try await #require(throws: DownloadError.self) {
            try await AssetDownload(
                ResourceAddress(Self.root + "main.m3u8"),
                into: temporary.library,
                loader: ResourceLoader(ScriptedTransport(texts: Self.texts), policy: RecoveryPolicy(retries: 0)),
                configuration: configuration
            ).run()
        }
        #expect(error.code == .cannotEdit)
    }

    @Test func editsArePartOfTheStoredSelection() throws {
        let edits = [("exclude", "class=a&b=c%,d"), ("set-tag", "EXT-X-START=TIME-OFFSET=1"), ("no-subtitles", "")]
        let selection = try selection(edits)
        let restored = try #require(DownloadSelection(selection.description))
        #expect(restored == selection && restored.edits.edits.count == 3)
        #expect(DownloadSelection("variants=best&edit=unknown=1") == nil)
        #expect(DownloadSelection("variants=none")?.variants == DownloadSelection.Variants.none)
    }

    @Test func playerStoresOnlyThePartOfASubtitleFile() async throws {
        let origin = ScriptedTransport(texts: Self.texts)
        origin.setResponses(for: Self.root + "text.vtt", .failure(TransportError(.status, "no", status: 503)))
        await #expect(throws: DownloadError.self) {
            _ = try await download(try selection([("exclude", "cues")]), from: origin)
        }
        let id = try #require(try temporary.library.assets().first?.id)
        let player = PackageTransport(temporary.library, id: id, origin: ScriptedTransport(texts: Self.texts))
        let missing = try temporary.library.missingResources(id)
        #expect(missing.count == 2)
        for resource in missing {
            let request = TransportRequest(player.address(of: resource.path), kind: .segment)
            let bytes = try await ResourceLoader(player).load(request).bytes
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.contains("first") != text.contains("last") && !text.contains("break"))
            let asset = try temporary.library.asset(id)
            #expect(try stored(resource.path, of: asset) == text)
        }
        #expect(try temporary.library.missingCount(id) == 0)
    }
}
