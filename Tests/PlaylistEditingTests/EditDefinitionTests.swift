import MediaTiming
import PlaylistEditing
import Testing

/// Tests that the definitions of edits describe what the edits accept.
@Suite struct EditDefinitionTests {
    private static let withParameter = PlaylistEdit.definitions.filter { $0.parameter != nil }

    @Test func namesAreUniqueAndCanBeOptionsAndParameters() {
        let names = PlaylistEdit.names
        #expect(Set(names).count == names.count && names == PlaylistEdit.definitions.map(\.name))
        for name in names { #expect(name.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil, "\(name)") }
        // The server uses these names for other parameters of /play.m3u8.
        #expect(names.allSatisfy { !["url", "segments", "conditions", "link", "define", "parent"].contains($0) })
    }

    @Test(arguments: PlaylistEdit.definitions)
    func definitionIsDocumented(definition: EditDefinition) {
        #expect(definition.title.first?.isUppercase == true && !definition.title.hasSuffix("."))
        #expect(definition.summary.first?.isUppercase == true && definition.summary.hasSuffix("."))
        #expect((definition.parameter == nil) == definition.examples.isEmpty)
    }

    @Test(arguments: PlaylistEdit.definitions)
    func examplesAreValid(definition: EditDefinition) throws {
        for example in definition.parameter == nil ? [""] : definition.examples {
            let edit = try PlaylistEdit(name: definition.name, value: example)
            #expect(edit.definition == definition)
            #expect(try PlaylistEdit(name: definition.name, value: edit.value) == edit)
        }
    }

    @Test(arguments: withParameter)
    func invalidValueIsReportedWithTheForm(definition: EditDefinition) throws {
        let parameter = try #require(definition.parameter)
        #expect(throws: PlaylistEditError.invalidValue(edit: definition.name, value: "", expected: parameter.form)) {
            try PlaylistEdit(name: definition.name, value: "")
        }
    }

    /// Returns a value of the given type that contains a number.
    private func value(_ number: Int, _ kind: EditParameter.Kind) -> String? {
        switch kind {
        case .bitRateRange, .decimalRange, .timeRange: "\(number)..."
        case .resolutionRange: "\(number)x\(number)..."
        case .integer, .decimal, .time: "\(number)"
        case .sourceAtTime: "a.m3u8@\(number)"
        case .source, .sourceAtBreaks, .conditions, .list, .tag, .channel, .segmentRule, .key, .text: nil
        }
    }

    @Test(arguments: withParameter)
    func boundsAreThoseOfTheParser(definition: EditDefinition) throws {
        let parameter = try #require(definition.parameter)
        func accepts(_ number: Int) -> Bool? {
            value(number, parameter.kind).map { (try? PlaylistEdit(name: definition.name, value: $0)) != nil }
        }
        guard value(0, parameter.kind) != nil else {
            #expect(parameter.minimum == nil && parameter.exclusiveMinimum == nil && parameter.maximum == nil)
            // Numbers may have no unit, as a score; other values have none.
            #expect(parameter.unit == nil)
            return
        }
        #expect((parameter.minimum == nil) != (parameter.exclusiveMinimum == nil))
        if let minimum = parameter.minimum { #expect(accepts(minimum) == true && accepts(minimum - 1) == false) }
        if let minimum = parameter.exclusiveMinimum {
            #expect(accepts(minimum) == false && accepts(minimum + 1) == true)
        }
        if let maximum = parameter.maximum {
            #expect(accepts(maximum) == true && accepts(maximum + 1) == false)
        } else {
            #expect(accepts(1_000_000_000) == true)
        }
    }

    @Test(arguments: withParameter)
    func onlyEditsWithASourceCanGetAnotherOne(definition: EditDefinition) throws {
        let edit = try PlaylistEdit(name: definition.name, value: try #require(definition.examples.first))
        // The playlist that an interstitial plays is not loaded.
        let takesSource =
            [.source, .sourceAtTime, .sourceAtBreaks].contains(definition.parameter?.kind)
            && definition.name != "interstitials"
        #expect((edit.source != nil) == takesSource)
        let other = edit.replacingSource("other.m3u8")
        #expect(other.definition == definition && other.source == (takesSource ? "other.m3u8" : nil))
        #expect((other == edit) == !takesSource)
    }

    @Test func editsAreEqualIfNameAndValueAreEqual() throws {
        #expect(try PlaylistEdit(name: "start", value: "1:00") == .start(MediaTime(seconds: 60)))
        #expect(PlaylistEdit.append("a") != .prepend("a") && PlaylistEdit.append("a") != .append("b"))
        #expect(Set([PlaylistEdit.absolute, .absolute, .canonical, .noIFrames]).count == 3)
        #expect(PlaylistEdit.insert("a@b", at: MediaTime(seconds: 2)).value == "a@b@2")
    }

    @Test func edgesOfTimeRangesAreFormatted() {
        let range = MediaTimeRange(start: MediaTime(seconds: 1), end: MediaTime(seconds: 2))
        #expect(PlaylistEdit.dropRange(range).nameAndValue == ("drop-range", "1...2"))
    }
}
