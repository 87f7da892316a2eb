import AssetStorage
import Foundation
import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests of the parts of playback addresses that concern live playlists.
@Suite struct LiveAddressTests {
    private static let signer = SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 7, count: 32)))

    private func request(_ query: String, isServed: Bool = true) throws -> PlaybackRequest {
        var request = try PlaybackRequest(QueryItems(query))
        if isServed { request.mediaAddressing = .server(Self.signer) }
        return request
    }

    @Test func partsAreThoseOfAServedChannel() throws {
        let channel = "url=https://h/a&live=loop,part=1"
        #expect(try request(channel).partDelivery() == PartDelivery())
        for query in [channel + "&_HLS_msn=4&_HLS_part=2", channel + "&_HLS_part=2&_HLS_msn=4"] {
            let awaited = PartDelivery.Position(sequence: 4, part: 2)
            #expect(try request(query).partDelivery() == PartDelivery(awaited: awaited))
        }
        let whole = PartDelivery.Position(sequence: 0, part: nil)
        #expect(try request(channel + "&_HLS_msn=0").partDelivery() == PartDelivery(awaited: whole))
        for query in ["url=https://h/a&live=loop", "url=https://h/a", "url=https://h/a&live=loop&_HLS_msn=x"] {
            #expect(try request(query).partDelivery() == nil, "\(query)")
        }
        #expect(try request(channel, isServed: false).partDelivery() == nil)
    }

    @Test(arguments: ["_HLS_msn=", "_HLS_msn=-1", "_HLS_msn=1.5", "_HLS_part=0", "_HLS_msn=1&_HLS_part=-1"])
    func otherDirectivesOfAChannelAreRefused(directives: String) throws {
        let request = try request("url=https://h/a&live=loop,part=1&" + directives)
        let error = #expect(throws: ServerError.self) { try request.partDelivery() }
        #expect(error?.status == .badRequest && error?.code == "invalid-directive")
    }

    @Test(
        arguments: [
            // A channel is made of complete playlists, and an interstitial is known by its parameters.
            ("url=https://h/a&live=loop&_HLS_msn=4", "https://h/a"),
            ("url=https://h/a&live=loop&_HLS_primary_id=x", "https://h/a"),
            ("url=https://h/a&start=4&_HLS_skip=YES&_HLS_start_offset=2", "https://h/a?_HLS_start_offset=2"),
            (
                "url=https://h/a&replace-breaks=https://h/b@cues&_HLS_msn=4&_HLS_interstitial_id=y",
                "https://h/a?_HLS_interstitial_id=y"
            ),
        ]
    )
    func sourceHasTheDirectivesThatItCanAnswer(query: String, address: String) throws {
        #expect(try request(query).address.text == address)
    }

    @Test func tracksOfAPresentationShareAName() throws {
        let breaks = "&replace-breaks=https://h/ad@cues"
        func name(_ query: String) throws -> String? { try request(query).inheritance([:]).presentation }
        let first = try #require(try name("url=https://h/a" + breaks))
        #expect((1...16).contains(first.utf8.count))
        #expect(try name("url=https://h/a" + breaks) == first && name("url=https://h/b" + breaks) != first)
        #expect(try name("url=https://h/a" + breaks + "&duration=4") != first)
        #expect(try name("url=https://h/a&duration=4") == nil)
        let parent = try request("url=https://h/a" + breaks).inheritance([:])
        let child = parent.sibling(ResourceAddress("https://h/v"), parent.plan)
        #expect(child.path == "/play.m3u8?url=https://h/v\(breaks)&presentation=\(first)")
    }

    @Test func namesOfPresentationsAreShort() throws {
        let short = String(repeating: "n", count: 16)
        #expect(try request("url=https://h/a&presentation=\(short)").presentation == short)
        #expect(try request("url=https://h/a&presentation=\(short)n").presentation == nil)
    }

    @Test func updatesAreThoseOfEditedPlaylists() throws {
        #expect(try request("url=https://h/a&start=4&_HLS_skip=YES").skip == .segments)
        #expect(try request("url=https://h/a&start=4&_HLS_skip=v2").skip == .segmentsAndDateRanges)
        #expect(try request("url=https://h/a&start=4&_HLS_skip=no").skip == nil)
        #expect(try request("url=https://h/a&_HLS_skip=YES").skip == nil)
    }
}

/// Tests of how media files are told from playlists.
@Suite struct MediaRecognitionTests {
    private static let film: [UInt8] = [0, 0, 0, 16] + Array("ftypisom".utf8) + [UInt8](repeating: 0, count: 5_000)

    @Test(arguments: ["a.m3u8", "A.M3U8?x=1", "a.m3u", "a.mpd"])
    func documentsAreRecognizedByTheirNames(name: String) async throws {
        let address = ResourceAddress("https://h/" + name)
        let transport = ScriptedTransport([address.text: [.bytes(Self.film)]])
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        #expect(try await !loader.isMediaFile(at: address))
        #expect(try await !loader.isProbableMediaFile(at: address))
        #expect(transport.requests.isEmpty)
    }

    @Test func otherFilesAreRecognizedByTheirBytes() async throws {
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let text = ScriptedTransport.Response.text(list)
        let transport = ScriptedTransport([
            "https://h/film": [.bytes(Self.film)], "https://h/list": [text], "https://h/list.mp4": [text],
        ])
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        for (name, isFile) in [("film", true), ("list", false), ("list.mp4", false)] {
            let address = ResourceAddress("https://h/" + name)
            #expect(try await loader.isMediaFile(at: address) == isFile, "\(name)")
            #expect(try await loader.isProbableMediaFile(at: address) == isFile, "\(name)")
        }
        // The name decides if the bytes cannot be loaded, unless they may not be.
        let missing = ResourceAddress("https://h/missing.mp4")
        #expect(try await loader.isProbableMediaFile(at: missing))
        let refusal = TransportError(.addressRefused, "no", address: missing)
        transport.setResponses(for: missing.text, .failure(refusal))
        await #expect(throws: TransportError.self) { try await loader.isProbableMediaFile(at: missing) }
    }

    private func result(_ bytes: [UInt8], _ kind: TransportRequest.Kind = .playlist) async throws -> String {
        let address = ResourceAddress("https://h/a")
        let transport = DocumentTransport(ScriptedTransport([address.text: [.bytes(bytes)]]))
        let response = try await transport.send(TransportRequest(address, kind: kind))
        var count = 0
        do {
            for try await buffer in response.body { count += buffer.readableBytes }
        } catch {
            return "\(ServerError(error).status.code) \(ServerError(error).message)"
        }
        return "\(count) bytes"
    }

    @Test func bodyOfAMediaFileEnds() async throws {
        #expect(try await result(Array(Self.film.prefix(4_096))).hasPrefix("415 https://h/a: "))
        #expect(try await result(Array(Self.film.prefix(4_095))) == "4095 bytes")
        #expect(try await result(Self.film, .segment) == "\(Self.film.count) bytes")
        let text = Array(("#EXTM3U\n" + String(repeating: "#\n", count: 4_000)).utf8)
        #expect(try await result(text) == "\(text.count) bytes")
    }
}

/// Tests of the addresses within this process at which players receive edited playlists.
@Suite struct EditedAddressTests {
    private let source = ScriptedTransport(texts: [
        "https://h/a.mpd": "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>",
        "https://h/subs": "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:20,\nall.vtt\n#EXT-X-ENDLIST\n",
        "https://h/all.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\nfirst\n\n00:15.000 --> 00:16.000\nsecond\n",
    ])

    private func load(_ address: String, translatesDASH: Bool = true) async throws -> String {
        let transport = EditedTransport(
            source,
            policy: RecoveryPolicy(retries: 0),
            time: ManualTime(),
            translatesDASH: translatesDASH
        )
        let response = try await transport.send(TransportRequest(ResourceAddress(address), kind: .playlist))
        var text = ""
        for try await buffer in response.body { text += String(buffer: buffer) }
        #expect(response.status == 200 && response.expectedLength == Int64(text.utf8.count))
        return text
    }

    @Test(
        arguments: [
            ("/part.vtt", "wrong-content"), ("/part.vtt?url=https://h/all.vtt", "wrong-content"),
            ("/play.m3u8?url=https://h/a.mpd", "dash"), ("/play.m3u8?url=https://h/subs&segments=x", "invalid-value"),
        ]
    )
    func failuresHaveTheirCodes(path: String, code: String) async throws {
        let error = await #expect(throws: TransportError.self) {
            _ = try await load(EditedTransport.defaultOrigin + path, translatesDASH: false)
        }
        #expect(error?.code.rawValue == code, "\(error?.message ?? "")")
    }

    /// A player of this process loads segments from their origin, and the transport removes what is outside a part.
    @Test func partsOfSubtitlesHaveTheirOwnCues() async throws {
        let playlist = try await load(
            "\(EditedTransport.defaultOrigin)/play.m3u8?url=https://h/subs&split=10&trim=10...20"
        )
        let part = try #require(playlist.split(separator: "\n").first { !$0.hasPrefix("#") })
        #expect(part.hasPrefix("https://h/all.vtt#"), "\(playlist)")
        let text = try await load(String(part))
        #expect(text.contains("second") && !text.contains("first"))
        #expect(try await load("https://h/all.vtt").contains("first"))
    }
}

/// Tests of secrets and certificates in files.
@Suite(.timeLimit(.minutes(10))) struct KeyFileTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private func signature(_ secret: ServerSecret) -> String {
        let address = SegmentAddress(ResourceAddress("https://h/a.ts"), delivery: .redirect, link: nil)
        return SegmentSigner(secret).signature(of: address)
    }

    @Test func secretOfALibraryThatCannotBeWrittenIsNotStored() throws {
        try withFolder { folder in
            let first = try ServerSecret.readable(in: folder)
            #expect(try signature(first) != signature(ServerSecret.readable(in: folder)))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            let stored = try ServerSecret.stored(in: folder)
            #expect(try signature(stored) == signature(ServerSecret.readable(in: folder)))
        }
    }

    @Test func filesThatAreNoCertificateAreExplained() throws {
        try withFolder { folder in
            let first = try SelfSignedCertificate.make("a", in: folder)
            let second = try SelfSignedCertificate.make("b", in: folder)
            let none = folder.appendingPathComponent("none")
            let (text, large) = (folder.appendingPathComponent("text"), folder.appendingPathComponent("large"))
            try Data(repeating: 0x61, count: 1 << 20).write(to: text)
            try Data(repeating: 0x61, count: (1 << 20) + 1).write(to: large)
            for (certificate, key, message) in [
                (none, first.key, "\(none.path) cannot be read ("),
                (text, first.key, "\(text.path) contains no certificate in the PEM format"),
                (large, first.key, "\(large.path) is larger than 1048576 bytes"),
                (first.certificate, none, "\(none.path) cannot be read ("),
                (first.certificate, text, "\(text.path) contains no private key in the PEM format"),
                (first.certificate, large, "\(large.path) is larger than 1048576 bytes"),
                (first.certificate, second.key, "the key \(second.key.path) is not that of the certificate"),
            ] {
                let error = #expect(throws: ServerCertificate.ReadingError.self) {
                    try ServerCertificate(certificate: certificate, key: key)
                }
                #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
            }
            _ = try ServerCertificate(certificate: second.certificate, key: second.key)
        }
    }
}
