import Foundation
import HLSPlaylist
import MediaTransport
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamServer

@Suite struct StreamCatalogTests {
    private let address = ResourceAddress("http://origin.example/catalogue/Streams.plist")

    @Test func propertyListsAreParsed() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>Streams</key><array>
            <dict><key>name</key><string>Advanced Stream</string>
            <key>playlist_url</key><string>https://example.com/a.m3u8</string></dict>
            <dict><key>name</key><string>Advanced Stream</string>
            <key>playlist_url</key><string>b/top.m3u8</string><key>is_protected</key><false/></dict>
            </array></dict></plist>
            """
        let catalog = try StreamCatalog(Data(text.utf8), at: address)
        #expect(catalog.streams.map(\.id) == ["advanced-stream", "advanced-stream-1"])
        #expect(catalog.streams[1].address.text == "http://origin.example/catalogue/b/top.m3u8")
    }

    @Test func jsonArraysAreParsed() throws {
        let text = """
            [{"name":"Ünïcode & <b>", "url":"x.mpd?a=b", "poster":"p.jpg", "advertisement":true, "extra":1},
             {"id":"f", "name":"F", "url":"/m.MP4"}]
            """
        let catalog = try StreamCatalog(Data(text.utf8), at: address)
        #expect(catalog.streams.map(\.kind) == [.dash, .file])
        #expect(catalog.streams[0].isAdvertisement && catalog.streams[0].name == "Ünïcode & <b>")
        #expect(catalog.streams[0].poster?.text == "http://origin.example/catalogue/p.jpg")
    }

    @Test(arguments: [
        "", "{}", "[{\"url\":\"a\"}]", "[{\"name\":\"a\"}]", "<plist version=\"1.0\"><dict/></plist>", "[1]",
        "not a plist",
        "[{\"name\":\"a\",\"url\":\"file:///etc/passwd\"}]",
    ])
    func otherFilesAreRejectedWithAMessage(text: String) {
        let error = #expect(throws: StreamCatalog.ReadingError.self) {
            try StreamCatalog(Data(text.utf8), at: address)
        }
        #expect(error?.description.isEmpty == false)
    }

    @Test func relativeAddressInALocalCatalogIsExplained() {
        let error = #expect(throws: StreamCatalog.ReadingError.self) {
            try StreamCatalog(
                Data("[{\"name\":\"a\",\"url\":\"a.m3u8\"}]".utf8),
                at: ResourceAddress(filePath: "/srv/catalog.json")
            )
        }
        #expect(error?.description.contains("over http") == true)
    }

    @Test func headerFieldsAreScopedToTheOriginOfTheStreamAndToNamedHosts() throws {
        let text = """
            [{"name": "a", "url": "https://a.example/a.m3u8", "headers": {"X-Token": "t"},
              "headersFor": {"cdn.example:8443": {"X-CDN": "c"}, "*": {"X-All": "all"}}},
             {"name": "b", "url": "https://b.example/b.m3u8"}]
            """
        let headers = try StreamCatalog(Data(text.utf8), at: address).streams.flatMap(\.headers)
        func sent(_ address: String) -> [String] { headers.fields(for: ResourceAddress(address)).map(\.value) }
        #expect(
            sent("https://a.example/x.ts") == ["all", "t"] && sent("https://cdn.example:8443/x.ts") == ["all", "c"]
        )
        #expect(sent("https://b.example/b.m3u8") == ["all"] && sent("http://a.example/x.ts") == [])
        #expect(sent("https://cdn.example/x.ts") == ["all"])
    }

    @Test(arguments: [
        #"[{"name": "a", "url": "/a", "headers": {"X": "1\nY: 2"}}]"#,
        #"[{"name": "a", "url": "/a", "headers": {"a b": "1"}}]"#,
        #"[{"name": "a", "url": "/a", "headers": {"Host": "evil"}}]"#,
        #"[{"name": "a", "url": "/a", "headers": {"X:Y": "1"}}]"#,
        #"[{"name": "a", "url": "/a", "headersFor": {"a/b": {"X": "1"}}}]"#,
        #"[{"name": "a", "url": "/a", "headers": {"X": 1}}]"#,
        #"[{"name": "a", "url": "/a", "headersFor": {"h": {"range": "1"}}}]"#,
        #"[{"name": "a", "url": "/a", "headers": {"X": "1"}}, {"name": "b", "url": "/b", "headers": {"x": "2"}}]"#,
    ])
    func headerFieldsThatCannotBeSentAreRejected(text: String) {
        #expect(throws: StreamCatalog.ReadingError.self) { try StreamCatalog(Data(text.utf8), at: address) }
    }

    @Test func messagesDoNotContainSecretsOfTheAddress() {
        let error = #expect(throws: StreamCatalog.ReadingError.self) {
            try StreamCatalog(Data("{}".utf8), at: ResourceAddress("https://me:pw@h/x.json?token=topsecretvalue"))
        }
        #expect(error?.description.contains("topsecret") == false && error?.description.contains("pw@") == false)
    }
}

/// Tests of the channels and edits of a catalog.
@Suite struct ChannelCatalogTests {
    private let address = ResourceAddress("http://origin.example/catalog/streams.json")
    private let date = ProgramDateTime("2026-01-01T00:00:30Z")

    private func streams(_ entry: String) throws -> [StreamCatalog.Stream] {
        try StreamCatalog(Data("[\(entry)]".utf8), at: address, date: date).streams
    }

    @Test func channelJoinsItsSources() throws {
        let stream = try #require(
            try streams(#"{"name":"News","channel":["a.m3u8","/b.mpd","http://user:pass@h/c.m3u8"],"loop":true}"#).first
        )
        #expect(stream.address.text == "http://origin.example/catalog/a.m3u8" && stream.isChannel)
        #expect(stream.sources.map(\.text).suffix(2) == ["http://origin.example/b.mpd", "http://h/c.m3u8"])
        #expect(
            stream.edits.edits == [
                .append("http://origin.example/b.mpd"), .append("http://h/c.m3u8"), .live(SimulatedChannel()),
            ]
        )
        #expect(stream.headers.count == 1)
    }

    @Test func startAndWindowAreThoseOfTheCatalog() throws {
        func value(_ fields: String) throws -> String? {
            try streams(#"{"name":"N","channel":["a"]\#(fields)}"#).first?.edits.edits.last?.value
        }
        #expect(try value("") == "once,start=2026-01-01T00:00:00.000Z")
        #expect(try value(#","loop":false,"window":7.5"#) == "once,start=2026-01-01T00:00:00.000Z,window=7.5")
        #expect(
            try value(#","loop":true,"start":"2025-01-01T00:00:00+01:00","window":300"#)
                == "loop,start=2025-01-01T00:00:00.000+01:00,window=300"
        )
    }

    @Test func streamCanHaveEdits() throws {
        let streams = try streams(#"{"name":"N","url":"a","edits":[{"name":"max-height","value":"360"}]}"#)
        #expect(streams.first?.edits.edits == [.maxHeight(360)] && streams.first?.isChannel == false)
    }

    @Test(arguments: [
        #"{"name":"N","channel":[]}"#, #"{"name":"N","channel":[""]}"#, #"{"name":"N","channel":["a"],"url":"b"}"#,
        #"{"name":"N","channel":["a"],"start":"soon"}"#, #"{"name":"N","channel":["a"],"window":0}"#,
        #"{"name":"N","url":"a","loop":true}"#, #"{"name":"N","channel":["file:///a"]}"#,
        #"{"name":"N","url":"a","edits":[{"name":"none"}]}"#,
        #"{"name":"N","channel":[\#((0...16).map { "\"\($0)\"" }.joined(separator: ","))]}"#,
    ])
    func invalidChannelIsExplained(entry: String) {
        let error = #expect(throws: StreamCatalog.ReadingError.self) { try streams(entry) }
        #expect(error?.description.contains("catalog") == true)
    }
}
