import Foundation
import MediaTransport
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests how the entries of a catalog are parsed.
@Suite struct CatalogReadingTests {
    private let address = ResourceAddress("http://origin.example/c/list.json")

    private func read(_ text: String, at address: ResourceAddress? = nil) throws -> [StreamCatalog.Stream] {
        try StreamCatalog(Data(text.utf8), at: address ?? self.address).streams
    }

    private func message(_ text: String, at address: ResourceAddress? = nil) -> String? {
        do {
            _ = try read(text, at: address)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("  A  B!", "a-b"), ("Advanced Stream 2", "advanced-stream-2"), ("a.b", "a-b"), ("Ünïcode 1", "n-code-1"),
        ("½x", "x"), ("--a--", "a"), ("A_1", "a-1"), ("4K", "4k"), ("あ", "-0"), ("!", "-0"),
    ])
    func identifiersConsistOfLettersDigitsAndHyphens(name: String, id: String) throws {
        #expect(try read("[{\"name\": \"\(name)\", \"url\": \"a\"}]").map(\.id) == [id])
    }

    @Test func identifiersAreUnique() throws {
        let ids = try read(
            """
            [{"name": "a", "url": "1"}, {"name": "A!", "url": "2"}, {"id": "b", "name": "a", "url": "3"},
             {"id": "", "name": "c", "url": "4"}, {"id": "B", "name": "d", "url": "5"}, {"name": "e", "url": "6"}]
            """
        ).map(\.id)
        #expect(ids == ["a", "a-1", "b", "-3", "b-4", "e"])
    }

    @Test(
        arguments: [
            ("a.mpd", .dash), ("A.MPD?x=1", .dash), ("a.mp4", .file), ("a.m4v", .file), ("a.MOV", .file),
            ("a.m4a", .file), ("a.mp3", .file), ("a.m3u8", .hls), ("a", .hls), ("a.m3u8?x=.mp4", .hls),
            ("a.mp4/x", .hls), ("mpd", .hls),
        ] as [(String, StreamCatalog.Stream.Kind)]
    )
    func kindOfAStreamFollowsFromItsPathExtension(url: String, kind: StreamCatalog.Stream.Kind) throws {
        #expect(try read("[{\"name\": \"a\", \"url\": \"\(url)\"}]").map(\.kind) == [kind])
    }

    @Test func allFieldsOfAnEntryAreParsed() throws {
        let streams = try read(
            """
             \t\r\n[{"id": "x", "name": "X", "url": "a.m3u8", "playlist_url": "b.m3u8", "poster": "/p.png",
              "detail": "About it", "advertisement": true}, {"name": "Y", "url": "https://h/y"}]
            """
        )
        #expect(streams.map(\.id) == ["x", "y"] && streams.map(\.name) == ["X", "Y"])
        #expect(streams.map(\.address.text) == ["http://origin.example/c/b.m3u8", "https://h/y"])
        #expect(streams.map(\.poster?.text) == ["http://origin.example/p.png", nil])
        #expect(streams.map(\.detail) == ["About it", nil] && streams.map(\.isAdvertisement) == [true, false])
        #expect(streams.allSatisfy { $0.headers.isEmpty })
    }

    @Test func propertyListsHaveTheSameFields() throws {
        let streams = try read(
            """
            <plist version="1.0"><dict><key>Streams</key><array><dict>
            <key>name</key><string>X</string><key>url</key><string>a</string>
            <key>advertisement</key><true/></dict></array></dict></plist>
            """
        )
        #expect(streams.map(\.address.text) == ["http://origin.example/c/a"] && streams[0].isAdvertisement)
    }

    @Test(arguments: [
        ("[{\"name\": \"a\"}]", "the stream \"a\" in the catalog http://origin.example/c/list.json has no url"),
        (
            "[{\"name\": \"a\", \"url\": \"\"}]",
            "the stream \"a\" in the catalog http://origin.example/c/list.json has no url"
        ),
        (
            "[{\"name\": \"a\", \"url\": \"ftp://h/a\"}]",
            "the stream \"a\" in the catalog has the URL ftp://h/a, which is not an http URL; "
                + "relative URLs require a catalog that is loaded over http"
        ),
        (
            "[{\"url\": \"a\"}]",
            "the catalog http://origin.example/c/list.json is not a list of streams in JSON (name is missing at Index 0)"
        ),
        (
            "{\"name\": \"a\"}",
            "the catalog http://origin.example/c/list.json is not a list of streams in JSON (the document must be an array)"
        ),
        (
            "[{\"name\": 1}]",
            "the catalog http://origin.example/c/list.json is not a list of streams in JSON (Index 0.name must be a string)"
        ),
        (
            "[3]",
            "the catalog http://origin.example/c/list.json is not a list of streams in JSON (Index 0 must be an object)"
        ),
        (
            "[{\"name\": \"a\", \"url\": \"b\", \"window\": \"c\"}]",
            "the catalog http://origin.example/c/list.json is not a list of streams in JSON (Index 0.window must be a number)"
        ),
        (
            "[{\"name\" 1}]",
            "the catalog http://origin.example/c/list.json is not a list of streams in JSON "
                + "(Invalid value around character 9.)"
        ),
        (
            "<html>",
            "the catalog http://origin.example/c/list.json is neither a Streams.plist nor JSON; it is a web page"
        ),
    ])
    func errorsNameTheProblem(text: String, expected: String) {
        #expect(message(text) == expected)
    }

    @Test(arguments: ["[{\"name\": 1, \"url\": \"a\"}]", "[{\"name\": null, \"url\": \"a\"}]", "[{]"])
    func parserErrorIsAddedInParentheses(text: String) throws {
        let message = try #require(self.message(text))
        #expect(
            message.hasPrefix("the catalog http://origin.example/c/list.json is not a list of streams in JSON (")
        )
        #expect(message.hasSuffix(")") && !message.contains("DecodingError") && !message.contains("()"))
    }

    @Test(arguments: [
        "Accept-Encoding", "connection", "Content-Length", "expect", "HOST", "if-range", "keep-alive",
        "proxy-authorization", "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
    ])
    func connectionFieldsCannotBeSet(name: String) {
        let expected = "the stream \"a\" in the catalog has the header field \"\(name)\", which cannot be sent"
        #expect(message("[{\"name\": \"a\", \"url\": \"a\", \"headers\": {\"\(name)\": \"1\"}}]") == expected)
        #expect(
            message("[{\"name\": \"a\", \"url\": \"a\", \"headersFor\": {\"*\": {\"\(name)\": \"1\"}}}]") == expected
        )
    }

    @Test func invalidScopeIsReported() {
        #expect(
            message("[{\"name\": \"a\", \"url\": \"a\", \"headersFor\": {\"a/b\": {\"X\": \"1\"}}}]")
                == "the stream \"a\" in the catalog has headersFor \"a/b\", which is not HOST, HOST:PORT, an origin, or *"
        )
    }

    @Test func headerFieldHasOneValuePerHost() throws {
        let entry = { (name: String, url: String, field: String, value: String) in
            "{\"name\": \"\(name)\", \"url\": \"\(url)\", \"headers\": {\"\(field)\": \"\(value)\"}}"
        }
        let first = entry("a", "/a", "X-Token", "1")
        #expect(try read("[\(first), \(entry("b", "/b", "x-token", "1"))]").count == 2)
        #expect(try read("[\(first), \(entry("b", "/b", "Y-Token", "2"))]").count == 2)
        #expect(try read("[\(first), \(entry("b", "http://other.example/b", "X-Token", "2"))]").count == 2)
        #expect(
            message("[\(first), \(entry("b", "/b", "x-token", "2"))]")
                == "the streams in the catalog have two values of the header field x-token for http://origin.example:80"
        )
    }

    @Test func fieldsAreSortedByHostAndName() throws {
        let headers = try read(
            """
            [{"name": "a", "url": "/a", "headers": {"C": "3", "B": "2"},
              "headersFor": {"z.example": {"F": "6", "E": "5"}, "d.example": {"D": "4"}}}]
            """
        ).flatMap(\.headers)
        #expect(headers.map(\.field.name) == ["D", "E", "F", "B", "C"])
        #expect(headers.map(\.field.value) == ["4", "5", "6", "2", "3"])
    }
}
