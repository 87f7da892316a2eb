import Foundation
import MillstreamTesting
import Testing

/// Tests that addresses in the playlists and manifests of public hosts lead neither the server nor its clients to private hosts.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PrivateAddressTests {
    /// A document with the address of a resource on another host.
    struct Document: Sendable, CustomTestStringConvertible {
        /// The name of the element or tag with the address.
        let testDescription: String
        let fileExtension: String
        /// The document, in which `@` stands for the folder of the resource.
        let text: String

        /// Creates a multivariant playlist.
        static func multivariant(_ name: String, _ lines: String) -> Document {
            let text = "#EXTM3U\n\(lines)\n"
            return Document(testDescription: name, fileExtension: "m3u8", text: text)
        }

        /// Creates a media playlist.
        static func media(_ name: String, _ lines: String, segment: String = "a.ts") -> Document {
            let start = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:4\n"
            let text = "\(start)\(lines)\n#EXTINF:4,\n\(segment)\n#EXT-X-ENDLIST\n"
            return Document(testDescription: name, fileExtension: "m3u8", text: text)
        }

        /// Creates a DASH manifest.
        static func manifest(
            _ name: String,
            attributes: String = #"type="static" mediaPresentationDuration="PT8S""#,
            head: String = "",
            addressing: String = #"<SegmentTemplate duration="4" initialization="i.mp4" media="$Number$.m4s"/>"#
        ) -> Document {
            let text = """
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink" \(attributes)>
                \(head)<Period id="p" start="PT0S"><AdaptationSet contentType="video" mimeType="video/mp4" startWithSAP="1">
                <Representation id="v" bandwidth="500000" codecs="avc1.42c01e" width="640" height="360">\(addressing)
                </Representation></AdaptationSet></Period></MPD>
                """
            return Document(testDescription: name, fileExtension: "mpd", text: text)
        }
    }

    static let documents: [Document] = [
        .multivariant("EXT-X-STREAM-INF", "#EXT-X-STREAM-INF:BANDWIDTH=1\n@/v.m3u8"),
        .multivariant(
            "EXT-X-I-FRAME-STREAM-INF",
            "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"@/i.m3u8\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8"
        ),
        .multivariant(
            "EXT-X-MEDIA",
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="A",URI="@/a.m3u8""#
                + "\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nv.m3u8"
        ),
        .media("segment", "", segment: "@/a.ts"),
        .media("EXT-X-MAP", #"#EXT-X-MAP:URI="@/a.mp4""#),
        .media("EXT-X-KEY", #"#EXT-X-KEY:METHOD=AES-128,URI="@/a.key""#),
        .manifest("BaseURL", head: "<BaseURL>@/</BaseURL>"),
        .manifest(
            "SegmentTemplate@media",
            addressing: #"<SegmentTemplate duration="4" initialization="i.mp4" media="@/$Number$.m4s"/>"#
        ),
        .manifest(
            "SegmentTemplate@initialization",
            addressing: #"<SegmentTemplate duration="4" initialization="@/i.mp4" media="$Number$.m4s"/>"#
        ),
        .manifest(
            "SegmentURL@media",
            addressing: """
                <SegmentList duration="4"><Initialization sourceURL="i.mp4"/><SegmentURL media="@/1.m4s"/>\
                <SegmentURL media="@/2.m4s"/></SegmentList>
                """
        ),
        .manifest(
            "SegmentBase@indexRange",
            addressing: #"<BaseURL>@/a.mp4</BaseURL><SegmentBase indexRange="0-99"/>"#
        ),
        .manifest(
            "xlink:href",
            head: #"<Period xlink:href="@/period.xml" xlink:actuate="onLoad" id="x" duration="PT4S"/>"#
        ),
        .manifest(
            "UTCTiming",
            attributes: """
                type="dynamic" availabilityStartTime="2024-01-01T00:00:00Z" timeShiftBufferDepth="PT20S" \
                minimumUpdatePeriod="PT8S"
                """,
            head: #"<UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="@/time"/>"#
        ),
    ]

    /// Each document is tried with a public host too, since a document without effect would prove nothing.
    @Test(arguments: documents)
    func addressesOnPrivateHostsAreNeitherLoadedNorRedirectedTo(document: Document) async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            for (host, isPublic) in [("8.8.4.4", true), ("10.1.2.3", false)] {
                let folder = "http://\(host)/other"
                let path = "/\(host).\(document.fileExtension)"
                let isManifest = document.fileExtension == "mpd"
                let type = isManifest ? "application/dash+xml" : "application/vnd.apple.mpegurl"
                stage.origin.set(path, .text(document.text.replacing("@", with: folder), contentType: type))
                stage.origin.behave(path, .proper)
                for fields in [[], ["Origin: https://evil.example"]] {
                    for delivery in ["", "&segments=proxy", "&segments=direct"] {
                        let before = stage.origin.requests.count
                        let start = "/play.m3u8?url=\(ServerStage.publicHost)\(path)\(delivery)"
                        let responses = try await follow(start, fields, on: stage)
                        let requests = stage.origin.requests.dropFirst(before)
                        let isLoaded = requests.contains { request in
                            // The target of a tunnel, and that of a request to the proxy itself.
                            let isToHost = request.target == host + ":80" || request.target.hasPrefix(folder)
                            return isToHost || request.header("Host") == host
                        }
                        let isRedirected = responses.contains { $0.field("Location")?.hasPrefix(folder) == true }
                        let comment = "\(host) \(fields) \(delivery): \(responses.map(\.head))"
                        if !isPublic {
                            #expect(!isLoaded && !isRedirected, "\(comment)")
                        } else if delivery.isEmpty, fields.isEmpty {
                            #expect(isLoaded || isRedirected, "\(comment)")
                        }
                    }
                }
            }
        }
    }

    /// Requests a playback URL, everything on the server that the responses name, and for the owner what the page of the server
    /// requests to play it.
    ///
    /// - Returns: The responses.
    private func follow(_ start: String, _ fields: [String], on stage: ServerStage) async throws -> [RawResponse] {
        var waiting = [start]
        var known: Set<String> = []
        var responses: [RawResponse] = []
        while let target = waiting.popLast(), known.count < 50 {
            guard known.insert(target).inserted else { continue }
            let response = try await stage.ask(target, fields: fields)
            responses.append(response)
            let values = response.body.split { $0.isNewline || $0 == "\"" }.map(String.init)
            waiting += values.filter { $0.hasPrefix("/play.m3u8?") || $0.hasPrefix("/segment/") }
            guard fields.isEmpty, target.hasPrefix("/play.m3u8?") else { continue }
            let address = target.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let number = response.body.firstMatch(of: /#EXT-X-MEDIA-SEQUENCE:([0-9]+)/).map { String($0.1) } ?? "0"
            for request in ["playlist?address=\(address)", "segment?address=\(address)&segment=\(number)"] {
                responses.append(try await stage.ask("/api/playback/\(request)"))
            }
        }
        return responses
    }
}
