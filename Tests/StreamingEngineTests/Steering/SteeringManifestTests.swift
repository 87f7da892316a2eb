import MediaTiming
import ResourceAddressing
import Testing

@testable import StreamingEngine

@Suite struct SteeringManifestTests {
    private static let address = ResourceAddress("https://steer.example/a/steer.json?session=7")

    private func manifest(_ text: String) throws(StreamingError) -> SteeringManifest {
        try SteeringManifest(parsing: Array(text.utf8), at: Self.address)
    }

    @Test func allMembersAreRead() throws {
        let manifest = try manifest(
            """
            {
              "VERSION": 1, "TTL": 60, "RELOAD-URI": "../next.json?n=1", "X-COM-EXAMPLE": [null],
              "PATHWAY-PRIORITY": ["b", "a", "b", ""],
              "PATHWAY-CLONES": [
                {"BASE-ID": "a", "ID": "c", "URI-REPLACEMENT": {"HOST": "c.example", "PARAMS": {"t": "1"}}}
              ]
            }
            """
        )
        #expect(manifest.timeToLive == .seconds(60))
        #expect(manifest.reloadAddress?.text == "https://steer.example/next.json?n=1")
        #expect(manifest.pathwayPriority == ["b", "a"])
        #expect(manifest.clones.map(\.id) == ["c"] && manifest.clones.map(\.baseID) == ["a"])
    }

    @Test(arguments: [
        ("", 300), (#""TTL":1,"#, 5), (#""TTL":-1e300,"#, 5), (#""TTL":1e300,"#, 86_400), (#""TTL":7.9,"#, 7),
        (#""TTL":null,"#, 300),
    ])
    func theTimeToLiveIsLimited(member: String, seconds: Int) throws {
        let manifest = try manifest("{\"VERSION\":1,\(member)\"PATHWAY-PRIORITY\":[\"a\"]}")
        #expect(manifest.timeToLive == .seconds(seconds))
    }

    @Test(arguments: [
        "", "null", "[]", "{}", "\u{0}", #"{"VERSION":2,"PATHWAY-PRIORITY":["a"]}"#,
        #"{"VERSION":"1","PATHWAY-PRIORITY":["a"]}"#, #"{"PATHWAY-PRIORITY":["a"]}"#, #"{"VERSION":1}"#,
        #"{"VERSION":1,"PATHWAY-PRIORITY":[]}"#, #"{"VERSION":1,"PATHWAY-PRIORITY":[""]}"#,
        #"{"VERSION":1,"PATHWAY-PRIORITY":"a"}"#, #"{"VERSION":1,"PATHWAY-PRIORITY":[1]}"#,
        #"{"VERSION":1,"TTL":"5","PATHWAY-PRIORITY":["a"]}"#, #"{"VERSION":1e999,"PATHWAY-PRIORITY":["a"]}"#,
        String(repeating: "[", count: 100_000), "{\"VERSION\":1,\"PATHWAY-PRIORITY\":[\"a\"]",
    ])
    func otherTextsAreRefused(text: String) {
        let error = #expect(throws: StreamingError.self) { try manifest(text) }
        #expect(error?.code == .unreadablePlaylist)
        #expect(error?.address == Self.address)
    }

    @Test func otherBytesAreRefused() {
        #expect(throws: StreamingError.self) {
            try SteeringManifest(parsing: [0x7B, 0xFF, 0xFE, 0x7D], at: Self.address)
        }
        let padding = [UInt8](repeating: 0x20, count: 1 << 20)
        let text = #"{"VERSION":1,"PATHWAY-PRIORITY":["a"]}"#
        #expect(throws: StreamingError.self) {
            try SteeringManifest(parsing: Array(text.utf8) + padding, at: Self.address)
        }
    }

    @Test(arguments: ["file:///etc/passwd", "data:,x", "javascript:x", "https:///"])
    func aReloadURIThatIsNotHTTPIsIgnored(reference: String) throws {
        let manifest = try manifest(
            "{\"VERSION\":1,\"RELOAD-URI\":\"\(reference)\",\"PATHWAY-PRIORITY\":[\"a\"]}"
        )
        #expect(manifest.reloadAddress == nil)
    }

    @Test func theCountsAreLimited() throws {
        let pathways = (0..<1_000).map { "\"p\($0)\"" }.joined(separator: ",")
        let clones = (0..<1_000).map { "{\"BASE-ID\":\"a\",\"ID\":\"c\($0)\",\"URI-REPLACEMENT\":{}}" }
            .joined(separator: ",")
        let manifest = try manifest(
            "{\"VERSION\":1,\"PATHWAY-PRIORITY\":[\(pathways)],\"PATHWAY-CLONES\":[\(clones)]}"
        )
        #expect(manifest.pathwayPriority.count == SteeringManifest.maximumPathwayCount)
        #expect(manifest.clones.count == SteeringManifest.maximumCloneCount)
    }

    @Test(arguments: [
        "1", "null", "{}", #"{"BASE-ID":"a","ID":"c"}"#, #"{"BASE-ID":"","ID":"c","URI-REPLACEMENT":{}}"#,
        #"{"BASE-ID":"a","ID":"","URI-REPLACEMENT":{}}"#, #"{"BASE-ID":"a","ID":"c\"d","URI-REPLACEMENT":{}}"#,
        #"{"BASE-ID":"a","ID":"c","URI-REPLACEMENT":{"HOST":1}}"#,
        #"{"BASE-ID":"a","ID":"c","URI-REPLACEMENT":{"HOST":"user@x"}}"#,
        #"{"BASE-ID":"a","ID":"c","URI-REPLACEMENT":{"HOST":"x/y"}}"#,
        #"{"BASE-ID":"a","ID":"c","URI-REPLACEMENT":{"HOST":"x:y"}}"#,
        #"{"BASE-ID":"a","ID":"c","URI-REPLACEMENT":{"PARAMS":{"a":1}}}"#,
    ])
    func invalidClonesAreIgnored(clone: String) throws {
        let valid = #"{"BASE-ID":"a","ID":"d","URI-REPLACEMENT":{"HOST":"[::1]:80"}}"#
        let manifest = try manifest(
            "{\"VERSION\":1,\"PATHWAY-PRIORITY\":[\"a\"],\"PATHWAY-CLONES\":[\(clone),\(valid)]}"
        )
        #expect(manifest.clones.map(\.id) == ["d"])
    }

    /// Manifests with random changes are read or refused, and clones have valid URLs.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func damagedManifestsAreReadOrRefused(seed: UInt64) {
        let text = #"""
            {"VERSION":1,"TTL":60,"RELOAD-URI":"n?a=1","PATHWAY-PRIORITY":["a","b"],"PATHWAY-CLONES":[{"BASE-ID":"a",
            "ID":"c","URI-REPLACEMENT":{"HOST":"c.example:80","PARAMS":{"t":"1"},"PER-VARIANT-URIS":{"v":"x"}}}]}
            """#
        var state = seed
        func number(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        let base = Presentation.Variant.Location(
            address: ResourceAddress("https://user:secret@a.example/x?t=0"),
            pathwayID: "a",
            groupIDs: [:]
        )
        for _ in 0..<500 {
            var bytes = Array(text.utf8)
            for _ in 0...number(below: 3) {
                let position = number(below: bytes.count)
                switch number(below: 3) {
                case 0: bytes[position] = UInt8(number(below: 256))
                case 1: bytes.remove(at: position)
                default: bytes.insert(bytes[number(below: bytes.count)], at: position)
                }
            }
            guard let manifest = try? SteeringManifest(parsing: bytes, at: Self.address) else { continue }
            #expect(!manifest.pathwayPriority.isEmpty && manifest.timeToLive >= .seconds(5))
            #expect(manifest.reloadAddress?.isHTTP != false)
            for clone in manifest.clones {
                #expect(clone.location(base, stableID: nil).address.isHTTP)
                #expect(clone.location(base, stableID: "v").address.isHTTP)
            }
        }
    }
}

@Suite struct AddressReplacementTests {
    @Test(arguments: [
        ("https://a.example/x?y#z", "b.example", "https://b.example/x?y#z"),
        ("https://a.example:8443/x", "b.example", "https://b.example:8443/x"),
        ("https://a.example:8443/x", "b.example:1", "https://b.example:1/x"),
        ("https://user:secret@a.example/x", "b.example", "https://b.example/x"),
        ("https://user:secret@a.example:9/x", "b.example", "https://b.example:9/x"),
        ("http://[::1]:80/x", "[::2]", "http://[::2]:80/x"), ("http://[::1]", "b", "http://b"),
        ("file:///x", "b.example", "file:///x"), ("x", "b.example", "x"),
    ])
    func theHostIsReplaced(address: String, host: String, expected: String) {
        #expect(ResourceAddress(address).replacingHost(with: host).text == expected)
    }

    @Test(arguments: [
        ("https://a/x", "https://a/x?t=1&u=%26"), ("https://a/x?", "https://a/x?t=1&u=%26"),
        ("https://a/x?t=0&v=%7e#f", "https://a/x?t=1&v=%7e&u=%26#f"), ("https://a/x?u&%74=2", "https://a/x?u=%26&t=1"),
        ("https://a/x?tt=3", "https://a/x?tt=3&t=1&u=%26"), ("https://a/?#?t=5", "https://a/?t=1&u=%26#?t=5"),
    ])
    func queryParametersAreSet(address: String, expected: String) {
        let parameters = [QueryParameter(name: "t", value: "1"), QueryParameter(name: "u", value: "&")]
        #expect(ResourceAddress(address).setting(parameters).text == expected)
        #expect(ResourceAddress(address).setting([]).text == address)
    }
}
