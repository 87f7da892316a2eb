import CostOperations

extension InputShape {
    /// The shapes of subtitle documents and XML.
    static var subtitles: [InputShape] { webVTT + timedText + subRip + xml }

    /// A number of cues for which the fuzz target does not render a script.
    ///
    /// If it rendered a script for the smaller input but not for the larger one, the two costs would not be comparable.
    static let cuesWithoutScript = 210

    // MARK: WebVTT

    private static func clock(_ seconds: Int, _ separator: String = ".") -> String {
        func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(pair(seconds / 3600 % 24)):\(pair(seconds / 60 % 60)):\(pair(seconds % 60))\(separator)000"
    }

    private static func cue(_ start: Int, _ text: String, length: Int = 1, settings: String = "") -> String {
        "\(clock(start)) --> \(clock(start + length)) \(settings)\n\(text)\n\n"
    }

    private static func webVTT(
        _ name: String,
        size: Int = cuesWithoutScript,
        _ text: @escaping (Int) -> String
    ) -> InputShape {
        InputShape("webvtt", name, size: size) { "WEBVTT\n\n" + text($0) }
    }

    private static var webVTT: [InputShape] {
        [
            webVTT("cues") { repeated($0) { cue($0, "line \($0)") } },
            webVTT("cues-of-one-time") { repeated($0) { cue(1, "line \($0)") } },
            webVTT("cues-alike") { repeated($0) { _ in cue(1, "line") } },
            webVTT("cues-alike-one-after-the-other") { repeated($0) { cue(2 * $0, "line") } },
            webVTT("cues-that-overlap") { count in repeated(count) { cue($0, "line", length: count) } },
            webVTT("cues-in-reverse") { count in repeated(count) { cue(count - $0, "line \($0)") } },
            webVTT("cues-of-one-name") { repeated($0) { "same\n" + cue($0, "line") } },
            webVTT("cues-without-text") { repeated($0) { cue($0, "") } },
            webVTT("regions") { count in
                repeated(count) { "REGION\nid:r\($0)\nwidth:40%\nlines:3\n\n" }
                    + repeated(count) { cue($0, "line", settings: "region:r\($0)") }
            },
            webVTT("regions-of-one-name") { count in
                repeated(count) { _ in "REGION\nid:r\nlines:3\n\n" }
                    + repeated(count) { cue($0, "line", settings: "region:r") }
            },
            webVTT("style-rules", size: 40) { count in
                repeated(count) { "STYLE\n::cue(.c\($0)) { color: red; }\n\n" }
                    + repeated(count) { cue($0, "<c.c\($0)>line</c>") }
            },
            webVTT("style-rules-of-one-class", size: 40) { count in
                "STYLE\n" + repeated(count) { _ in "::cue(.c) { color: red; }\n" } + "\n"
                    + repeated(count) { cue($0, "<c.c>line</c>") }
            },
            webVTT("style-rules-of-cues", size: 40) { count in
                "STYLE\n" + repeated(count) { _ in "::cue { color: red; }\n" } + "\n"
                    + repeated(count) { cue($0, "line") }
            },
            webVTT("style-rules-of-tags", size: 40) { count in
                "STYLE\n" + repeated(count) { _ in "::cue(b) { color: red; }\n" } + "\n"
                    + repeated(count) { cue($0, "<b>line</b>") }
            },
            webVTT("style-rules-of-names", size: 40) { count in
                "STYLE\n" + repeated(count) { "::cue(#n\($0)) { color: red; }\n" } + "\n"
                    + repeated(count) { "n\($0)\n" + cue($0, "line") }
            },
            webVTT("style-rules-of-voices", size: 40) { count in
                "STYLE\n" + repeated(count) { "::cue(v[voice=\"v\($0)\"]) { color: red; }\n" } + "\n"
                    + repeated(count) { cue($0, "<v v\($0)>line") }
            },
            webVTT("declarations-of-one-rule") { count in
                "STYLE\n::cue {" + repeated(count) { "color: rgb(\($0 % 256),0,0);" } + "}\n\n" + cue(1, "line")
            },
            webVTT("rule-without-end") { count in
                "STYLE\n" + repeated(count) { _ in "::cue(.c) { color\n" } + "\n" + cue(1, "x")
            },
            webVTT("classes-of-one-tag") { count in cue(1, "<c" + repeated(count) { ".c\($0)" } + ">line</c>") },
            webVTT("tags-in-tags") { count in
                cue(1, repeated(count) { _ in "<b>" } + "line" + repeated(count) { _ in "</b>" })
            },
            webVTT("tags-not-closed") { count in cue(1, repeated(count) { _ in "<i>x" }) },
            webVTT("tags-closed-without-opening") { count in cue(1, "<b>" + repeated(count) { _ in "</i>x" }) },
            webVTT("openings-of-tags") { count in cue(1, repeated(4 * count) { _ in "<" }) },
            webVTT("timestamps-of-one-cue") { count in
                cue(0, repeated(count) { "<\(clock($0))>x" }, length: 4 * count)
            },
            webVTT("ruby-of-one-cue") { count in cue(1, repeated(count) { _ in "<ruby>a<rt>b</rt></ruby>" }) },
            webVTT("character-references") { count in cue(1, repeated(count) { _ in "&amp;&lt;&#x41;&nothing" }) },
            webVTT("openings-of-references") { count in cue(1, repeated(4 * count) { _ in "&" }) },
            webVTT("lines-of-one-cue") { count in cue(1, repeated(count) { "line \($0)\n" }) },
            webVTT("one-long-line") { count in cue(1, String(repeating: "word ", count: 8 * count)) },
            webVTT("settings-of-one-cue") { count in cue(1, "line", settings: repeated(count) { "line:\($0 % 100)% " })
            },
            webVTT("comments") { count in repeated(count) { _ in "NOTE a\nb\n\n" } + cue(1, "line") },
            webVTT("blank-lines") { count in String(repeating: "\n", count: 16 * count) },
            webVTT("lone-returns") { count in String(repeating: "\r", count: 16 * count) },
            webVTT("blocks-that-are-no-cues") { repeated($0) { "x \($0) -> y\nz\n\n" } },
            webVTT("combining-characters") { count in cue(1, "e" + String(repeating: "\u{301}", count: 8 * count)) },
            InputShape("webvtt", "lines-of-the-header") { count in
                "WEBVTT\n" + repeated(count) { "X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:\($0)\n" } + "\n"
                    + cue(1, "line")
            },
        ]
    }

    // MARK: TTML

    private static func timedText(
        _ name: String,
        size: Int = cuesWithoutScript,
        root: String = "",
        head: @escaping (Int) -> String = { _ in "" },
        _ body: @escaping (Int) -> String
    ) -> InputShape {
        InputShape("ttml", name, size: size) { count in
            "<tt xmlns=\"http://www.w3.org/ns/ttml\" xmlns:tts=\"http://www.w3.org/ns/ttml#styling\" \(root)><head>"
                + head(count) + "</head><body><div>" + body(count) + "</div></body></tt>"
        }
    }

    private static func paragraph(_ number: Int, _ more: String = "", _ text: String = "line") -> String {
        "<p begin=\"\(number)s\" dur=\"1s\" \(more)>\(text)</p>"
    }

    private static func nested(_ count: Int, _ opening: String, _ name: String, _ text: String) -> String {
        String(repeating: "<\(opening)>", count: count) + text + String(repeating: "</\(name)>", count: count)
    }

    private static func styling(_ styles: String) -> String { "<styling>\(styles)</styling>" }
    private static func layout(_ regions: String) -> String { "<layout>\(regions)</layout>" }

    private static var timedText: [InputShape] {
        [
            timedText("paragraphs") { repeated($0) { paragraph($0) } },
            timedText("paragraphs-of-one-time") { repeated($0) { _ in paragraph(1) } },
            timedText("paragraphs-in-one-sequence") { count in
                "<div timeContainer=\"seq\">" + repeated(count) { _ in "<p dur=\"1s\">line</p>" } + "</div>"
            },
            timedText("sequences-in-sequences") { count in
                repeated(count) { _ in
                    nested(20, "div timeContainer=\"seq\"", "div", "<p><span dur=\"1s\">line</span></p>")
                }
            },
            timedText("sequences-without-duration") { count in
                "<div timeContainer=\"seq\">" + repeated(count) { _ in "<p>line</p>" } + "</div>"
            },
            timedText("divisions-at-the-limit-of-depth", size: 20) { count in
                repeated(count) { nested(50, "div begin=\"1s\" tts:color=\"red\"", "div", paragraph($0)) }
            },
            timedText("paragraphs-at-the-limit-of-depth") { count in
                nested(50, "div tts:color=\"red\"", "div", repeated(count) { paragraph($0) })
            },
            timedText("spans-at-the-limit-of-depth", size: 20) { count in
                repeated(count) { paragraph($0, "", nested(40, "span tts:color=\"red\"", "span", "line")) }
            },
            timedText("elements-beyond-the-limit-of-depth") { nested($0, "div", "div", "") },
            timedText("spans-of-one-paragraph") { count in
                paragraph(1, "", repeated(count) { "<span>word \($0)</span>" })
            },
            timedText("spans-that-appear-one-by-one", size: 40) { count in
                "<p begin=\"0s\" dur=\"\(2 * count)s\">" + repeated(count) { "<span begin=\"\($0)s\">word</span>" }
                    + "</p>"
            },
            timedText("line-breaks-of-one-paragraph") { count in paragraph(1, "", repeated(count) { "<br/>\($0)" }) },
            timedText("texts-of-one-paragraph") { count in paragraph(1, "", repeated(count) { "a<!-- -->b<x/>\($0)" })
            },
            timedText("long-text") { count in paragraph(1, "", String(repeating: "word ", count: 16 * count)) },
            timedText(
                "styles-of-one-chain",
                head: { count in
                    styling(repeated(count) { "<style xml:id=\"s\($0)\" style=\"s\($0 + 1)\" tts:color=\"red\"/>" })
                }
            ) { count in repeated(count) { paragraph($0, "style=\"s\($0)\"") } },
            timedText(
                "styles-in-a-circle",
                head: { count in
                    styling(
                        repeated(count) {
                            "<style xml:id=\"s\($0)\" style=\"s\(($0 + 1) % count)\" tts:color=\"red\"/>"
                        }
                    )
                }
            ) { count in repeated(count) { paragraph($0, "style=\"s\($0)\"") } },
            timedText(
                "styles-of-one-name",
                head: { count in
                    styling(repeated(count) { _ in "<style xml:id=\"s\" style=\"s\" tts:color=\"red\"/>" })
                }
            ) { count in repeated(count) { paragraph($0, "style=\"s\"") } },
            timedText(
                "references-of-one-style",
                head: { count in
                    styling(
                        repeated(count) { "<style xml:id=\"s\($0)\" tts:color=\"red\"/>" }
                            + "<style xml:id=\"all\" style=\"\(repeated(count) { "s\($0) " })\"/>"
                    )
                }
            ) { count in repeated(count) { paragraph($0, "style=\"all\"") } },
            timedText(
                "references-of-each-paragraph",
                size: 20,
                head: { count in
                    styling(repeated(64) { "<style xml:id=\"s\($0)\" tts:color=\"red\"/>" })
                }
            ) { count in
                let all = repeated(64) { "s\($0) " }
                return repeated(count) { paragraph($0, "style=\"\(all)\"") }
            },
            timedText(
                "regions",
                head: { count in
                    layout(
                        repeated(count) { "<region xml:id=\"r\($0)\" tts:origin=\"10% 10%\" tts:extent=\"80% 80%\"/>" }
                    )
                }
            ) { count in repeated(count) { paragraph($0, "region=\"r\($0)\"") } },
            timedText(
                "styles-of-one-region",
                head: { count in
                    layout(
                        "<region xml:id=\"r\">" + repeated(count) { _ in "<style tts:color=\"red\" style=\"x y\"/>" }
                            + "</region>"
                    )
                }
            ) { count in repeated(count) { paragraph($0, "region=\"r\"") } },
            timedText("regions-of-each-paragraph") { count in
                repeated(count) { paragraph($0, "", "<region tts:origin=\"10% \($0 % 90)%\"/>line") }
            },
            timedText(
                "regions-in-turns",
                head: { _ in
                    layout(repeated(2) { "<region xml:id=\"r\($0)\" tts:color=\"red\"/>" })
                }
            ) { count in
                nested(40, "div tts:color=\"red\"", "div", repeated(count) { paragraph($0, "region=\"r\($0 % 2)\"") })
            },
            timedText(
                "initial-values",
                head: { count in
                    styling(repeated(count) { _ in "<initial tts:color=\"red\"/>" })
                }
            ) { count in repeated(count) { paragraph($0) } },
            timedText("attributes-of-one-paragraph") { count in
                "<p " + repeated(count) { "a\($0)=\"x\" " } + ">line</p>"
            },
            timedText("ruby-of-one-paragraph") { count in
                paragraph(1, "", repeated(count) { _ in "<span tts:ruby=\"text\">a</span>" })
            },
            timedText("times-in-frames", root: "xmlns:ttp=\"http://www.w3.org/ns/ttml#parameter\" ttp:frameRate=\"25\"")
            { count in
                repeated(count) { "<p begin=\"00:00:01:\($0 % 25)\" end=\"\($0)f\">line</p>" }
            },
        ]
    }

    // MARK: SubRip

    private static func subRip(_ name: String, _ text: @escaping (Int) -> String) -> InputShape {
        InputShape("subrip", name, size: cuesWithoutScript, text: text)
    }

    private static func entry(_ number: Int, _ text: String, start: Int? = nil) -> String {
        let start = start ?? number
        return "\(number)\n\(clock(start, ",")) --> \(clock(start + 1, ","))\n\(text)\n\n"
    }

    private static var subRip: [InputShape] {
        [
            subRip("cues") { repeated($0) { entry($0, "line \($0)") } },
            subRip("cues-of-one-time") { repeated($0) { entry($0, "line", start: 1) } },
            subRip("cues-in-reverse") { count in repeated(count) { entry($0, "line", start: count - $0) } },
            subRip("tags-in-tags") { count in
                entry(1, repeated(count) { _ in "<b>" } + "x" + repeated(count) { _ in "</b>" })
            },
            subRip("tags-not-closed") { count in entry(1, repeated(count) { _ in "<i>x" }) },
            subRip("tags-closed-without-opening") { count in entry(1, "<b>" + repeated(count) { _ in "</i>x" }) },
            subRip("openings-of-tags") { count in entry(1, repeated(4 * count) { _ in "<" }) },
            subRip("openings-of-overrides") { count in entry(1, repeated(4 * count) { _ in "{\\" }) },
            subRip("fonts-of-one-cue") { count in
                entry(1, repeated(count) { "<font color=\"#00000\($0 % 10)\">x</font>" })
            },
            subRip("lines-of-one-cue") { count in entry(1, repeated(count) { "line \($0)\n" }) },
            subRip("one-long-line") { count in entry(1, String(repeating: "word ", count: 8 * count)) },
            subRip("numbers-without-times") { repeated($0) { "\($0)\n\n" } },
            subRip("times-without-text") { repeated($0) { entry($0, "") } },
            subRip("blank-lines") { String(repeating: "\n", count: 16 * $0) },
            subRip("lone-returns") { String(repeating: "\r", count: 16 * $0) },
        ]
    }

    // MARK: XML

    private static var xml: [InputShape] {
        [
            InputShape("xml", "elements") { count in "<a>" + repeated(count) { "<b\($0)/>" } + "</a>" },
            InputShape("xml", "attributes-of-one-element") { count in "<a " + repeated(count) { "b\($0)='x' " } + "/>"
            },
            InputShape("xml", "attributes-of-one-name") { count in "<a " + repeated(count) { _ in "b='x' " } + "/>" },
            InputShape("xml", "namespaces-of-one-element") { count in
                "<a " + repeated(count) { "xmlns:n\($0)='u\($0)' " } + "/>"
            },
            InputShape("xml", "namespaces-of-each-element") { count in
                "<a>" + repeated(count) { "<b xmlns:n='u\($0)' n:c='x'/>" } + "</a>"
            },
            InputShape("xml", "namespaces-in-scope", size: 40) { count in
                repeated(40) { "<a xmlns:n\($0)='u\($0)'>" } + repeated(count) { "<n\($0 % 40):b/>" }
                    + repeated(40) { _ in "</a>" }
            },
            InputShape("xml", "elements-in-elements") { count in
                repeated(count) { _ in "<a>" } + repeated(count) { _ in "</a>" }
            },
            InputShape("xml", "long-name") { count in "<\(String(repeating: "a", count: 32 * count))/>" },
            InputShape("xml", "long-value") { count in "<a b='\(String(repeating: "x", count: 32 * count))'/>" },
            InputShape("xml", "long-text") { count in "<a>\(String(repeating: "x", count: 64 * count))</a>" },
            InputShape("xml", "character-references") { count in "<a>\(repeated(count) { _ in "&#65;&amp;" })</a>" },
            InputShape("xml", "entities") { count in
                "<!DOCTYPE a [" + repeated(count) { "<!ENTITY e\($0) 'x'>" }
                    + "]><a>\(repeated(count) { "&e\($0);" })</a>"
            },
            InputShape("xml", "entities-of-entities", size: 4) { count in
                "<!DOCTYPE a [<!ENTITY e0 'x'>"
                    + repeated(count) { "<!ENTITY e\($0 + 1) '&e\($0);&e\($0);&e\($0);&e\($0);'>" }
                    + "]><a>&e\(count);</a>"
            },
            InputShape("xml", "comments") { count in "<a>\(repeated(count) { _ in "<!-- x -->" })</a>" },
            InputShape("xml", "processing-instructions") { count in "<a>\(repeated(count) { _ in "<?x y?>" })</a>" },
            InputShape("xml", "character-data-sections") { count in "<a>\(repeated(count) { _ in "<![CDATA[x]]>" })</a>"
            },
            InputShape("xml", "blank-lines") { count in "<a>\(String(repeating: "\n", count: 64 * count))</a>" },
            InputShape("xml", "openings-of-elements") { count in "<a>" + String(repeating: "<", count: 32 * count) },
            InputShape("xml", "quotation-marks") { count in "<a b=" + String(repeating: "'", count: 32 * count) },
        ]
    }
}
