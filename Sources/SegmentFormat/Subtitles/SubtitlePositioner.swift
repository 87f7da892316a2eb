/// A layout of simultaneously shown cues without overlaps (W3C WebVTT §7.2).
///
/// A cue keeps its position for its whole duration: a new cue is placed above it and does not move down when the lower
/// cue ends.
package struct SubtitlePositioner: Sendable {
    private var positions: [SubtitleCue: Double] = [:]

    /// The maximum number of simultaneously shown cues; further ones are omitted.
    package static let maximumCueCount = 64

    /// Creates an arrangement without cues.
    package init() {}

    /// Returns the given cues with their final positions.
    ///
    /// - Parameter cues: All cues shown at a time, in the order of their start times.
    /// - Returns: The cues with their positions, in the same order.
    package mutating func position(_ cues: [SubtitleCue]) -> [SubtitleCue] {
        let cues = cues.prefix(Self.maximumCueCount)
        let known = positions
        positions.removeAll(keepingCapacity: true)
        var boxes: [SubtitleBox] = []
        var result = stackingRegions(cues)
        for cue in result where cue.placement.overlapHandling != .avoidOverlap { boxes.append(SubtitleBox(cue)) }
        for (index, cue) in cues.enumerated() {
            guard cue.placement.overlapHandling == .avoidOverlap, let position = known[cue] else { continue }
            result[index].placement.verticalPosition = position
            boxes.append(SubtitleBox(result[index]))
            positions[cue] = position
        }
        for (index, cue) in cues.enumerated() where cue.placement.overlapHandling == .avoidOverlap && known[cue] == nil
        {
            if cue.placement.writingDirection == .horizontal {
                let distance = Self.distance(for: SubtitleBox(cue), boxes)
                result[index].placement.verticalPosition += distance
            }
            boxes.append(SubtitleBox(result[index]))
            positions[cue] = result[index].placement.verticalPosition
        }
        for index in result.indices { result[index].placement.overlapHandling = .fixed }
        return result
    }

    /// Returns the distance by which a box has to move to avoid overlaps: up if there is space, else down, else zero.
    private static func distance(for box: SubtitleBox, _ others: [SubtitleBox]) -> Double {
        var moved = box
        while let other = others.first(where: { $0.overlaps(moved) }) {
            moved = moved.moved(by: other.top - moved.bottom)
            if moved.top < 0 { break }
        }
        if moved.top >= 0 || moved.top == box.top { return moved.top - box.top }
        moved = box
        while let other = others.first(where: { $0.overlaps(moved) }) {
            moved = moved.moved(by: other.bottom - moved.top)
            if moved.bottom > 100 { return 0 }
        }
        return moved.top - box.top
    }

    /// Returns the cues with those of each region placed one below the other.
    private func stackingRegions(_ cues: ArraySlice<SubtitleCue>) -> [SubtitleCue] {
        var result = Array(cues)
        var regions: [String: [Int]] = [:]
        for (index, cue) in result.enumerated() {
            if case .stackInRegion(let region) = cue.placement.overlapHandling {
                regions[region, default: []].append(index)
            }
        }
        for members in regions.values where members.count > 1 {
            let heights = members.map { SubtitleLayout.height(of: result[$0]) }
            let first = result[members[0]].placement
            var top = first.verticalPosition
            switch first.verticalAnchor {
            case .top: break
            case .middle: top -= heights.reduce(0, +) / 2
            case .bottom: top -= heights.reduce(0, +)
            }
            for (member, height) in zip(members, heights) {
                result[member].placement.verticalAnchor = .top
                result[member].placement.verticalPosition = top
                top += height
            }
        }
        return result
    }
}
