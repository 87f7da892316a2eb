import HLSPlaylist
import Testing

/// Tests that the codes of two and three letters of a language match each other.
@Suite struct LanguageMatchingTests {
    @Test func eachCodeMatchesItsOtherForms() {
        #expect(LanguageCode.forms.count == 184)
        for codes in LanguageCode.forms {
            let forms = codes.map { String($0) }
            #expect([[2, 3], [2, 3, 3]].contains(forms.map(\.utf8.count)), "\(forms)")
            for form in forms {
                #expect(LanguageMatching.canonical(form) == forms.first, "\(form)")
                for other in forms {
                    #expect(LanguageMatching.distance(from: form, to: other) == 0, "\(form) \(other)")
                    #expect(LanguageMatching.isSame(form, other.uppercased()), "\(form) \(other)")
                    #expect(LanguageRanges([form]).includes("\(other)-Latn-XX"), "\(form) \(other)")
                }
            }
        }
    }

    @Test func noCodeBelongsToTwoLanguages() {
        let codes = LanguageCode.forms.flatMap(\.self)
        #expect(Set(codes).count == codes.count)
        #expect(codes.allSatisfy { $0.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } })
    }

    @Test(arguments: [
        ("de", "deu", 0), ("ger", "de", 0), ("GER-at", "de", 1), ("fra", "fre-CA", 1), ("zh-Hant", "chi-Hant-TW", 2),
        ("eng", "en_US", 1), ("en", "enm", nil), ("de", "nds", nil), ("fil", "tl", nil), ("gsw", "gsw", 0),
    ])
    func distanceCountsFromTheShortestCode(range: String, tag: String, distance: Int?) {
        #expect(LanguageMatching.distance(from: range, to: tag) == distance)
    }

    @Test(arguments: [
        ("deu_AT", "de-at"), ("zho-Hant", "zh-hant"), ("und", "und"), ("x-deu", "x-deu"), ("en-deu", "en-deu"),
        ("ENM", "enm"), ("de", "de"), ("", ""),
    ])
    func onlyThePrimarySubtagIsReplaced(tag: String, canonical: String) {
        #expect(LanguageMatching.canonical(tag) == canonical)
        #expect(LanguageMatching.canonical(canonical) == canonical)
    }

    @Test func missingTagIsTheSameOnlyAsAnotherMissingOne() {
        #expect(LanguageMatching.isSame(nil, nil) && !LanguageMatching.isSame(nil, "en"))
        #expect(!LanguageMatching.isSame("en", "en-US"))
    }
}
