import ReportFormat
import ResourceAddressing
import SharedCorpus
import Testing

@testable import HLSPlaylist

@Suite struct TagDefinitionTests {
    @Test func tagsAndAttributesHaveDistinctNames() {
        #expect(Set(TagName.allCases.map(\.name)).count == TagName.allCases.count)
        for tag in TagName.allCases {
            let names = (tag.definition.attributes ?? []).map(\.name)
            #expect(Set(names).count == names.count, "\(tag.name)")
            #expect(names.allSatisfy(Grammar.isAttributeName), "\(tag.name)")
        }
    }

    /// A repeated tag of the whole media playlist must break a rule, so each of them names one.
    @Test func everyMediaPlaylistTagNamesARuleAgainstRepetition() {
        for tag in TagName.allCases where tag.scope == .mediaPlaylist {
            #expect(tag.definition.repetition != nil, "\(tag.name)")
        }
    }

    /// The rules that a definition names are of the set `rfc`, those of tags that the standard does not define too.
    @Test func enumeratedAttributesHaveWordsAndRulesAreOfTheSetOfTheStandard() {
        for tag in TagName.allCases {
            for attribute in tag.definition.attributes ?? [] {
                if attribute.kind == .enumerated || attribute.kind == .enumeratedList {
                    #expect(attribute.words?.words.isEmpty == false, "\(tag.name) \(attribute.name)")
                }
                let rules = [attribute.requirement, attribute.words?.rule, attribute.version?.rule].compactMap { $0 }
                #expect(rules.allSatisfy { $0.definition.ruleSet == .rfc }, "\(tag.name) \(attribute.name)")
            }
        }
    }

    /// Each attribute with a role is found by the rewriting of addresses, for every tag that has one.
    @Test(arguments: TagName.allCases)
    func everyAddressOfATagIsListed(tag: TagName) throws {
        for attribute in tag.addresses {
            let text = "#EXTM3U\n#\(tag.name):\(attribute.name)=\"a/b\"\n"
            let playlist = try Playlist.parse(Array(text.utf8))
            #expect(playlist.addresses.map(\.uri) == ["a/b"], "\(text)")
        }
    }

    /// Attributes are written in the order of the definition, whatever their order was.
    @Test func canonicalFormHasAttributesInTheOrderOfTheDefinition() throws {
        let names = try #require(TagName.media.definition.attributes).map(\.name)
        let list = names.reversed().map { "\($0)=\"1\"" }.joined(separator: ",")
        let text = "#EXTM3U\n#EXT-X-MEDIA:\(list)\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n"
        let canonical = try Playlist.parse(Array(text.utf8)).canonical()
        guard case .multivariant(let playlist) = canonical else {
            throw PlaylistParsingError.unexpectedKind(found: .media)
        }
        #expect(playlist.renditions.first?.attributes.attributes.map(\.name) == names)
    }

    @Test func lookupFindsNamesWithTheSameLengthAndLetter() {
        let names = ["EXT-X-AB", "EXT-X-AC", "EXT-X-AD", "B", "EXT-X-BC"]
        let lookup = TagLookup(names)
        for (position, name) in names.enumerated() {
            let bytes = Array(name.utf8)
            #expect(lookup.position(of: 0..<bytes.count, in: bytes.span) == position)
        }
        for name in ["EXT-X-AE", "EXT-X-A", "A", "EXT-X-ABC", "ext-x-ab"] {
            let bytes = Array(name.utf8)
            #expect(lookup.position(of: 0..<bytes.count, in: bytes.span) == nil)
        }
        #expect(lookup.position(of: 0..<0, in: [UInt8]().span) == nil)
    }

    @Test(arguments: [
        ("STABLE-VARIANT-ID", "stableVariantID"), ("URI", "uri"), ("SERVER-URI", "serverURI"),
        ("ALLOWED-CPC", "allowedCPC"), ("BANDWIDTH", "bandwidth"),
    ])
    func fieldOfAnAttributeIsNamedAfterIt(attribute: String, field: String) {
        #expect(AttributeReport(attribute: attribute, .string).name == field)
    }

    /// The report of a tag follows from its definition: types, flags, absolute URLs, and nothing for unreadable tags.
    @Test func reportOfATagFollowsFromItsDefinition() throws {
        let definition = TagDefinition(
            "EXT-X-START",
            scope: .any,
            .attributes([
                AttributeDefinition("COUNT", .integer, required: .missingAttribute),
                .address("ITEM-URI", .session),
                .flag("SHOWN", report: AttributeReport("shown", .flagIfSet)),
                AttributeDefinition("SIZE", .resolution),
            ]),
            reportName: "example"
        )
        func report(_ value: String) throws -> String? {
            let bytes = Array("#EXT-X-START:\(value)\n".utf8)
            let context = PlaylistContext(address: ResourceAddress("https://a.example/b/c.m3u8"))
            let text = PlaylistText(bytes: bytes, context: context, variables: PlaylistVariables([], context: context))
            let line = try #require(bytes.tagLine(at: 0))
            var json = ""
            definition.report(line, of: text)?.write { json += $0 }
            return json.isEmpty ? nil : json
        }
        let written = try report("SIZE=1x2,ITEM-URI=\"i\",COUNT=3,SHOWN=YES")
        #expect(
            written?.replacing("\n", with: "").replacing(" ", with: "")
                == #"{"count":3,"itemURI":"i","itemURL":"https://a.example/b/i","shown":true,"width":1,"height":2}"#
        )
        #expect(try report("SIZE=1x2,COUNT=x") == nil)
    }

    /// The table of tags and attributes that other players and packagers read has nothing that has no definition.
    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
    func everyTagAndAttributeOfOtherImplementationsIsDefined() throws {
        let table = String(decoding: try SharedCorpus.bytes("hls-tags.tsv"), as: UTF8.self)
        let rows = table.split(separator: "\n").dropFirst().compactMap {
            $0.split(separator: "\t").first.map(String.init)
        }
        // Delivery directives, steering manifests and tags that the standard does not define have no definition.
        let foreign: Set = [
            "EXT-X-CUE-OUT", "EXT-X-CUE-IN", "EXT-X-CUE-OUT-CONT", "EXT-X-SCTE35", "EXT-OATCLS-SCTE35",
            "EXT-X-ALLOW-CACHE", "EXT-X-IMAGE-STREAM-INF", "EXT-X-TILES",
        ]
        var compared = 0
        for row in rows where row.hasPrefix("EXT") && !foreign.contains(row) {
            let parts = row.split(separator: "/", maxSplits: 1).map(String.init)
            let tag = try #require(TagName.allCases.first { $0.name == parts[0] }, "\(row)")
            compared += 1
            guard let name = parts.dropFirst().first else { continue }
            let attributes = (tag.definition.attributes ?? []) + tag.definition.classAttributes.values.joined()
            let words = attributes.compactMap(\.words).flatMap(\.words)
            #expect(attributes.contains { $0.name == name } || words.contains(name), "\(row)")
        }
        #expect(compared > 120)
    }
}
