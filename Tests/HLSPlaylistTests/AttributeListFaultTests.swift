import MediaTiming
import Testing

@testable import HLSPlaylist

/// Tests of edits of attribute lists, and of values at the limits of their types.
@Suite struct AttributeListFaultTests {
    private func list(_ text: String) -> AttributeList {
        let bytes = Array(text.utf8)
        return AttributeList(bytes, in: 0..<bytes.count)
    }

    /// Returns a list after the removal of attributes.
    private func removing(_ names: [String], from text: String) -> String {
        var patch = PlaylistPatch()
        list(text).remove(names, in: &patch)
        return String(decoding: patch.applied(to: Array(text.utf8)), as: UTF8.self)
    }

    /// Returns a list after an attribute was set.
    private func setting(_ name: String, to value: String, in text: String) -> String {
        var patch = PlaylistPatch()
        list(text).set(name, to: value, in: &patch)
        return String(decoding: patch.applied(to: Array(text.utf8)), as: UTF8.self)
    }

    @Test(
        arguments: [
            (["A"], "B=\"2\",C=3"), (["B"], "A=1,C=3"), (["C"], "A=1,B=\"2\""), (["A", "B"], "C=3"),
            (["B", "C"], "A=1"), (["C", "A"], "B=\"2\""), (["A", "B", "C"], ""), ([], "A=1,B=\"2\",C=3"),
            (["X"], "A=1,B=\"2\",C=3"), (["b", "AB", ""], "A=1,B=\"2\",C=3"),
        ] as [([String], String)]
    )
    func removedAttributesLeaveNoCommas(names: [String], result: String) {
        #expect(removing(names, from: "A=1,B=\"2\",C=3") == result)
    }

    @Test func repeatedAttributesAreRemovedTogether() {
        #expect(removing(["A"], from: "A=1,B=2,A=3") == "B=2")
        #expect(removing(["B"], from: "A=1,B=2,B=3,C=4") == "A=1,C=4")
        #expect(removing(["A"], from: "A=\"x,y\",B=2") == "B=2")
    }

    @Test(
        arguments: [
            ("A=1,B=\"2\",C=3", "B", "9", "A=1,B=9,C=3"), ("A=1,B=\"2\",C=3", "A", "\"x\"", "A=\"x\",B=\"2\",C=3"),
            ("A=1,B=\"2\",C=3", "C", "4", "A=1,B=\"2\",C=4"), ("A=1", "D", "4", "A=1,D=4"), ("", "D", "4", "D=4"),
            ("B=\"2", "B", "9", "B=9"), ("A=1,A=2", "A", "3", "A=3,A=2"),
        ]
    )
    func attributeIsReplacedOrAppended(text: String, name: String, value: String, result: String) {
        #expect(setting(name, to: value, in: text) == result)
    }

    @Test(
        arguments: [
            ("9223372036854775807", .max), ("9223372036854775808", nil), ("92233720368547758070", nil), ("0", 0),
            ("007", 7), ("", nil), ("1a", nil), ("/", nil), (":", nil), ("-1", nil), ("+1", nil), ("\"5\"", 5),
        ] as [(String, Int64?)]
    )
    func integersAreLimitedTo63Bits(value: String, number: Int64?) {
        #expect(list("A=1,I=\(value)").integer("I") == number)
        #expect(list("A=1,I=\(value)").integer("J") == nil)
    }

    @Test(arguments: [("YES", true), ("\"YES\"", true), ("yes", false), ("YESS", false), ("YE", false), ("NO", false)])
    func onlyTheWordYesIsTrue(value: String, isYes: Bool) {
        #expect(list("Y=\(value)").isYes("Y") == isYes)
        #expect(!list("Y=\(value)").isYes("X"))
    }

    @Test(
        arguments: [
            ("\"a, b,,c\"", ",", ["a", "b", "c"]), ("\"\"", ",", []), ("a", ",", ["a"]), ("\"a,\"", ",", ["a"]),
            ("\"a/b,c\"", "/", ["a", "b,c"]), ("\" \"", ",", []),
        ] as [(String, Character, [String])]
    )
    func listsAreSplit(value: String, separator: Character, items: [String]) {
        #expect(list("A=1,L=\(value)").list("L", separator: separator) == items)
        #expect(list("A=1,L=\(value)").list("M", separator: separator) == [])
    }

    @Test func listsAreSplitAfterVariablesAreReplaced() {
        let variables = PlaylistVariables([list("NAME=\"v\",VALUE=\"x,y\"")], context: PlaylistContext())
        let bytes = Array("L=\"{$v},z\",M=\"{$v}/z\",N=a".utf8)
        let attributes = AttributeList(bytes, in: 0..<bytes.count, variables: variables)
        #expect(attributes.list("L") == ["x", "y", "z"] && attributes.list("M", separator: "/") == ["x,y", "z"])
        #expect(attributes.list("N") == ["a"] && attributes["L"] == "x,y,z")
    }

    @Test func firstOfRepeatedAttributesCounts() {
        let repeated = list("A=1, B = \"2\" ,A=3,C")
        #expect(repeated["A"] == "1" && repeated["B"] == "2" && repeated["C"] == "" && repeated["D"] == nil)
        #expect(repeated.attributes.map(\.name) == ["A", "B", "A", "C"])
        #expect(repeated.attributes.map(\.value) == ["1", "2", "3", ""])
        #expect(repeated.attributes.map(\.isQuoted) == [false, true, false, false])
    }

    // MARK: Defaults

    @Test func sessionDataAndSteeringHaveDefaults() throws {
        let text = """
            #EXTM3U
            #EXT-X-SESSION-DATA:DATA-ID="a",VALUE="1"
            #EXT-X-SESSION-DATA:DATA-ID="b",URI="u",FORMAT=JSON
            #EXT-X-SESSION-DATA:DATA-ID="c",URI="u",FORMAT=RAW
            #EXT-X-SESSION-DATA:DATA-ID="d",URI="u",FORMAT=XML
            #EXT-X-CONTENT-STEERING:SERVER-URI="s"
            #EXT-X-CONTENT-STEERING:SERVER-URI="t",PATHWAY-ID="p"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            v.m3u8

            """
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        #expect(playlist.sessionData.map(\.format) == [.json, .json, .raw, nil])
        #expect(playlist.sessionData.map(\.value) == ["1", nil, nil, nil])
        #expect(playlist.sessionData.map(\.uri) == [nil, "u", "u", "u"])
        #expect(playlist.contentSteering?.serverURI == "s" && playlist.contentSteering?.pathwayID == nil)
        #expect(playlist.sessionKeys.isEmpty)
    }

    @Test(
        arguments: [
            ("CAN-SKIP-DATERANGES=YES", true, false), ("CAN-BLOCK-RELOAD=YES", false, true),
            ("CAN-SKIP-DATERANGES=NO,CAN-BLOCK-RELOAD=NO", false, false),
        ]
    )
    func serverControlHasDefaults(attributes: String, skipsDateRanges: Bool, blocks: Bool) throws {
        let text = "#EXTM3U\n#EXT-X-SERVER-CONTROL:\(attributes)\n#EXTINF:4,\na.ts\n"
        let control = try #require(try MediaPlaylist(parsing: Array(text.utf8)).serverControl)
        #expect(control.canSkipDateRanges == skipsDateRanges && control.canBlockReload == blocks)
        #expect(control.canSkipUntil == nil && control.holdBack == nil && control.partHoldBack == nil)
    }
}
