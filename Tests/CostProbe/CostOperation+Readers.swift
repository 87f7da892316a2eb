import CostOperations
import FuzzTargets
import MediaTiming
import SegmentFormat

extension CostOperation {
    /// The operations of every parser of untrusted input without side effects, on the worst shapes of its format.
    ///
    /// The fuzz targets define what is parsed and how the result is checked.
    static var readers: [CostOperation] {
        operations(InputShape.movies + InputShape.media + InputShape.dividedSegments, "media")
            + operations(InputShape.subtitles, "subtitles")
            + operations(InputShape.texts + InputShape.storedTexts, "texts")
            + operations(InputShape.manifests + InputShape.manifestUpdates, "manifests")
    }

    private static func operations(_ shapes: [InputShape], _ topic: String) -> [CostOperation] {
        shapes.map { shape in
            CostOperation("\(topic)/\(shape.reader)/\(shape.name)", size: shape.size) { count in
                guard let target = FuzzTarget.formats.first(where: { $0.name == shape.reader }) else {
                    fatalError("there is no reader \(shape.reader)")
                }
                let bytes = shape.bytes(count)
                return { target.run(bytes) }
            }
        }
    }

    /// The operations that insert cues into a timeline and render them as a script.
    static var subtitles: [CostOperation] {
        let alike: (Int) -> SubtitleCue = { cue(2 * $0, "line") }
        let different: (Int) -> SubtitleCue = { cue($0, "line \($0)") }
        let overlapping: (Int) -> SubtitleCue = { cue(1, "line \($0)", length: 4 + $0) }
        let shapes = [("alike", alike), ("different", different), ("of-one-time", overlapping)]
        return shapes.flatMap { name, cue in
            [
                CostOperation("cues/inserted-together/\(name)") { count in
                    let cues = (0..<count).map(cue)
                    return {
                        var timeline = SubtitleTimeline()
                        timeline.insert(cues)
                        precondition(timeline.count > 0)
                    }
                },
                CostOperation("cues/inserted-one-by-one/\(name)") { count in
                    let cues = (0..<count).map(cue)
                    return {
                        var timeline = SubtitleTimeline()
                        for cue in cues { timeline.insert([cue]) }
                        precondition(timeline.count > 0)
                    }
                },
                CostOperation("cues/discarded/\(name)") { count in
                    var timeline = SubtitleTimeline()
                    timeline.insert((0..<count).map(cue))
                    let full = timeline
                    let all = MediaTimeRange(start: .zero, end: MediaTime(seconds: Int64(8 * count)))
                    return {
                        var timeline = full
                        timeline.discard(all)
                        precondition(timeline.isEmpty)
                    }
                },
                CostOperation("cues/shown-one-after-the-other/\(name)") { count in
                    var timeline = SubtitleTimeline()
                    timeline.insert((0..<count).map(cue))
                    let full = timeline
                    return {
                        var time = MediaTime.zero
                        var changes = 0
                        var arrangement = SubtitlePositioner()
                        while let next = full.nextChange(after: time) {
                            time = next
                            _ = arrangement.position(full.cues(at: time))
                            changes += 1
                        }
                        precondition(changes > 0)
                    }
                },
                CostOperation("cues/as-a-script/\(name)", size: 40) { count in
                    var timeline = SubtitleTimeline()
                    timeline.insert((0..<count).map(cue))
                    let full = timeline
                    return { precondition(!SubStationScript().text(of: full).isEmpty) }
                },
            ]
        }
    }

    private static func cue(_ start: Int, _ text: String, length: Int = 1) -> SubtitleCue {
        SubtitleCue(
            id: "",
            timeRange: MediaTimeRange(
                start: MediaTime(seconds: Int64(start)),
                duration: MediaTime(seconds: Int64(length))
            ),
            lines: [SubtitleLine([SubtitleSpan(text)])],
            placement: SubtitlePlacement()
        )
    }
}
