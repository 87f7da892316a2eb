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

    // MARK: Names

    @Test(arguments: [
        ("Commentary", 0), ("commentary", 0), ("en:COMMENTARY", 0), (":commentary", 0), ("eng", 0), ("en-GB", 1),
        ("de:Commentary", nil), ("en:Comment", nil), ("Comment", nil), (":", nil), ("", nil), ("en:", nil),
    ])
    func textSelectsByLanguageOrName(text: String, distance: Int?) {
        #expect(RenditionMatching.distance(from: text, toLanguage: "en", name: "Commentary") == distance)
    }

    @Test(
        arguments: [
            ("KO-KR", ["ko", "en"], [0]), ("ko-KR", ["ko", "ko-KR", "ko-KP"], [1]),
            ("ko", ["ko", "ko-KR", "en"], [0, 1]), ("pt", ["pt-BR", "pt-PT"], [0, 1]), ("pt_br", ["por", "en"], [0]),
            ("en-GB", ["en-US"], []), ("zh-Hant-TW", ["zh", "zh-Hant", "chi-Hant", "zh-Hans"], [1, 2]),
            ("kor-KR:track 0", ["ko", "ko"], [0]), ("track 1", ["ko", "en"], [1]), ("en", ["enm"], []),
            ("", ["en"], []), ("en:", ["en"], []),
        ] as [(String, [String], [Int])]
    )
    func languageThatIsNotOfferedIsLookedUp(text: String, tags: [String], positions: [Int]) {
        var offered: [(language: String?, name: String?)] = []
        for (position, tag) in tags.enumerated() { offered.append((language: tag, name: "Track \(position)")) }
        #expect(RenditionMatching.positions(matching: text, in: offered) == Set(positions))
        offered.append((language: nil, name: nil))
        #expect(RenditionMatching.positions(matching: text, in: offered) == Set(positions))
    }

    @Test func nameMayHaveAColonOrNoLanguage() {
        #expect(RenditionMatching.distance(from: "Part 1: noon", toLanguage: "en", name: "part 1: Noon") == 0)
        #expect(RenditionMatching.distance(from: "Main", toLanguage: nil, name: "Main") == 0)
        #expect(RenditionMatching.distance(from: "en:Main", toLanguage: nil, name: "Main") == nil)
        #expect(RenditionMatching.distance(from: "en", toLanguage: nil, name: nil) == nil)
    }

    @Test(
        arguments: [
            ("en", "English", "en (English)"), ("en", "EN", "en"), ("en", nil, "en"), (nil, "Main", "Main"),
            (nil, nil, nil), ("deu", "deu (track 2)", "deu (track 2)"), ("", "Main", "Main"), (nil, "", nil),
            ("en", "Director, 50%", "en (Director%2C 50%25)"), (nil, "a,b", "a%2Cb"),
        ] as [(String?, String?, String?)]
    )
    func descriptionHasTheLanguageAndTheName(language: String?, name: String?, description: String?) {
        #expect(RenditionMatching.description(language: language, name: name) == description)
    }

    @Test(arguments: [
        (["Nope"], true, "no audio track matches \"Nope\""),
        (["cy", "zz"], false, "no subtitle track matches \"cy\" or \"zz\""),
        (["a", "b", "c"], true, "no audio track matches \"a\", \"b\" or \"c\""),
    ])
    func mismatchNamesEachText(texts: [String], isAudio: Bool, message: String) {
        #expect(RenditionMatching.mismatch(texts, isAudio: isAudio) == message)
    }
}
