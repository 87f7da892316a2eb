import MediaTiming
import SegmentFormat
import XMLReading

extension FuzzTarget {
    /// The parsers of captions and subtitles.
    static let subtitleTargets = [
        FuzzTarget("captions", "CEA-608 and CEA-708 captions in video", maximumLength: 2_048, run: readCaptions),
        FuzzTarget("webvtt", "WebVTT files", replayCount: 250, sharedSeeds: "corpus/vtt", run: readWebVTT),
        FuzzTarget("webvtt-samples", "WebVTT and TTML in MP4", furtherSeeds: ["fragments"], run: readSubtitleSamples),
        FuzzTarget("ttml", "TTML documents", replayCount: 200, run: readTimedText),
        FuzzTarget("subrip", "SubRip files", replayCount: 250, run: readSubRip),
        FuzzTarget("substation", "cue text that is written as SubStation Alpha", run: readCueText),
        FuzzTarget("xml", "XML documents", furtherSeeds: ["ttml"], run: readXML),
    ]
}

/// Inserts cues into a timeline and renders them as a SubStation Alpha script.
func show(_ cues: [SubtitleCue]) {
    var timeline = SubtitleTimeline()
    timeline.insert(Array(cues.prefix(cues.count / 2)))
    timeline.insert(cues)
    check(timeline.count <= SubtitleTimeline.maximumCueCount, "more cues than the limit")
    var start: MediaTime?
    for cue in timeline.cues {
        check(start.map { cue.timeRange.start >= $0 } ?? true, "cues are not in order")
        check(cue.timeRange.duration > .zero, "a cue has no duration")
        start = cue.timeRange.start
    }
    if let start { check(!timeline.cues(at: start).isEmpty, "a cue is not shown at its start") }
    if timeline.count <= 200 {
        for line in SubStationScript().text(of: timeline).split(separator: "\n") where line.hasPrefix("Dialogue:") {
            check(!line.contains("\r"), "a line of a script is broken")
        }
    }
    timeline.discard(MediaTimeRange(start: MediaTime(seconds: 1), end: MediaTime(seconds: 2)))
    check(timeline.cues(at: MediaTime(value: 3, timescale: 2)).isEmpty, "a discarded cue is shown")
}

@Sendable private func readCaptions(_ bytes: [UInt8]) {
    guard let mode = bytes.first else { return }
    let rest = Array(bytes.dropFirst())
    let span = rest.span
    let coding: CaptionTriplet.VideoCodec = mode & 1 == 0 ? .avc : .hevc
    let triplets =
        switch mode >> 1 & 3 {
        case 0: CaptionTriplet.triplets(in: span)
        case 1: CaptionTriplet.triplets(inNALUnit: span, codec: coding)
        case 2: CaptionTriplet.triplets(inSample: span, lengthSize: Int(mode >> 3 & 7), coding: coding)
        default: CaptionTriplet.triplets(inByteStream: span, codec: coding)
        }
    check(triplets.count <= bytes.count, "more captions than bytes")
    let isByLetters = mode & 0x80 != 0
    var line = CEA608Decoder(
        channel: .init(rawValue: 1 + Int(mode >> 5 & 3)) ?? .cc1,
        granularity: isByLetters ? .perFrame : .perLine
    )
    var digital = CEA708Decoder(service: 1 + Int(mode >> 6))
    var cues: [SubtitleCue] = []
    var time = MediaTime.zero
    for start in stride(from: 0, to: triplets.count, by: 4) {
        let group = Array(triplets[start..<min(triplets.count, start + 4)])
        cues += line.decode(group, at: time) + digital.decode(group, at: time)
        time = time + MediaTime(value: 1, timescale: 30)
    }
    _ = (line.currentCues, digital.currentCues)
    cues += line.finish(at: time) + digital.finish(at: time)
    for cue in cues { check(cue.timeRange.duration >= .zero, "a caption has a negative duration") }
    show(Array(cues.prefix(400)))
}

@Sendable private func readWebVTT(_ bytes: [UInt8]) {
    guard let document = try? WebVTTDocument(bytes.span) else { return }
    check(document.cues.count <= WebVTTDocument.maximumCueCount, "more cues than the limit")
    for cue in document.cues {
        check(cue.timeRange.duration >= .zero, "a cue has a negative duration")
        check(
            cue.nodes.reduce(0) { $0 + $1.plainText.utf8.count } <= 4 * cue.text.utf8.count,
            "the text of a cue grows"
        )
        _ = document.region(of: cue)
    }
    for reference in [MediaTime.zero, MediaTime(seconds: 95_443), MediaTime(seconds: .max), MediaTime(seconds: .min)] {
        var deduplicator = WebVTTCueDeduplicator()
        let cues = deduplicator.add(document.cues(near: reference))
        deduplicator.discardCues(before: reference)
        check(cues.count <= document.cues.count, "more cues than there are")
    }
    show(document.subtitles(near: .zero))
}

@Sendable private func readSubtitleSamples(_ bytes: [UInt8]) {
    let range = MediaTimeRange(start: .zero, duration: MediaTime(seconds: 2))
    if let sample = try? WebVTTSample(bytes.span, timeRange: range) {
        check(sample.cues.count <= WebVTTSample.maximumCueCount, "more cues than the limit")
        show(sample.cues.compactMap { SubtitleCue($0) })
    }
    if let header = WebVTTDocument(initialization: bytes.span) { show(header.subtitles(near: .zero)) }
    guard let subtitles = FragmentedSubtitles(initialization: bytes.span) else { return }
    if let cues = try? subtitles.cues(in: bytes.span) { show(cues) }
    if let cues = try? subtitles.cues(inSample: bytes.span, timeRange: range) { show(cues) }
}

@Sendable private func readTimedText(_ bytes: [UInt8]) {
    guard let document = try? TimedTextDocument(bytes.span) else { return }
    check(document.cues.count <= TimedTextDocument.maximumCueCount, "more cues than the limit")
    for cue in document.cues {
        check(cue.timeRange.duration >= .zero, "a cue has a negative duration")
    }
    let range = MediaTimeRange(start: MediaTime(seconds: 1), duration: MediaTime(seconds: 2))
    for cue in document.cues(within: range) {
        check(cue.timeRange.start >= range.start && cue.timeRange.end <= range.end, "a cue is outside of its sample")
    }
    let sample = FileSubtitleFormat.documents.cues(bytes.span, range: range)
    check(
        sample.allSatisfy { $0.timeRange.start >= range.start && $0.timeRange.end <= range.end },
        "a cue of a file is outside of its sample"
    )
    show(document.cues)
}

@Sendable private func readSubRip(_ bytes: [UInt8]) {
    let range = MediaTimeRange(start: MediaTime(seconds: 1), duration: MediaTime(seconds: 2))
    for format in [FileSubtitleFormat.subRip, .webVTT, .subStation, .timedText, .webVTTBoxes] {
        let cues = format.cues(bytes.span, range: range)
        check(cues.allSatisfy { $0.timeRange == range }, "a cue does not have the times of its sample")
        show(cues)
    }
    guard let document = try? SubRipDocument(bytes.span) else { return }
    check(document.cues.count <= SubRipDocument.maximumCueCount, "more cues than the limit")
    check(
        document.cues.reduce(0) { $0 + $1.lines.reduce(0) { $0 + $1.plainText.utf8.count } } <= 4 * bytes.count,
        "the cues are much larger than the file"
    )
    show(document.cues)
}

@Sendable private func readCueText(_ bytes: [UInt8]) {
    var choices = ChoiceReader(bytes)
    var placement = SubtitlePlacement()
    let percentages = [50, 0, 100, -1, .infinity, -.infinity, .nan, 1e300, 9.3e18, 0.001]
    placement.verticalPosition = choices.element(of: percentages)
    placement.horizontalPosition = choices.element(of: percentages)
    placement.boxSize = choices.element(of: percentages)
    let ratio = choices.element(of: percentages)
    var cue = SubtitleCue(
        id: "",
        timeRange: MediaTimeRange(start: .zero, duration: MediaTime(seconds: 1)),
        lines: [],
        placement: placement
    )
    for _ in 0..<(1 + choices.number(below: 3)) { cue.lines.append(SubtitleLine([SubtitleSpan(choices.text(40))])) }
    let script = SubStationScript(aspectRatio: ratio, fontName: choices.text(12))
    for event in script.events(for: cue) {
        let line = event.dialogueLine
        check(!line.contains { $0.isNewline }, "text breaks a line of the script")
        check(areOverridesClosed(event.text), "text opens or closes an override")
        _ = event.chunk(readOrder: 1)
    }
}

/// Returns whether the unescaped braces are balanced and each begins an override tag with a backslash.
private func areOverridesClosed(_ text: String) -> Bool {
    var isOpen = false
    var previous: Unicode.Scalar = " "
    for scalar in text.unicodeScalars {
        if previous == "{", isOpen, scalar != "\\" { return false }
        if scalar == "{", previous != "\\" {
            if isOpen { return false }
            isOpen = true
        } else if scalar == "}", previous != "\\" {
            if !isOpen { return false }
            isOpen = false
        }
        previous = scalar
    }
    return !isOpen
}

private struct CountingHandler: XMLEventHandler {
    var depth = 0
    var size = 0
    var isBalanced = true

    mutating func startElement(_ name: XMLName, attributes: XMLAttributes, line: Int) {
        depth += 1
        size += name.local.utf8.count
        for attribute in attributes.attributes { size += attribute.value.utf8.count }
        if line < 1 { isBalanced = false }
    }

    mutating func endElement(_ name: XMLName) {
        depth -= 1
        if depth < 0 { isBalanced = false }
    }

    mutating func handleText(_ text: String) { size += text.utf8.count }
}

@Sendable private func readXML(_ bytes: [UInt8]) {
    var handler = CountingHandler()
    do throws(XMLReadingError) {
        try XMLDocumentParser.parse(bytes.span, into: &handler)
        check(handler.depth == 0, "an element is not closed")
    } catch {
        check(error.line >= 0, "an error has a negative line")
    }
    check(handler.isBalanced, "elements are not balanced")
    // Text in UTF-16 or Latin-1 is up to twice as long in UTF-8.
    check(handler.size <= 4 * bytes.count, "a document grows when it is read")
}
