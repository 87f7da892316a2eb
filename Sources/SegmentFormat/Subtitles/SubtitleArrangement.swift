/// Finds places for the cues that are shown together, so that none covers another (W3C WebVTT §7.2).
///
/// A cue keeps its place for as long as it is shown: a new one goes above it, and does not fall when the lower one ends.
public struct SubtitleArrangement: Sendable {
    private var places: [SubtitleCue: Double] = [:]

    /// Further cues that are shown at one time are left out.
    public static let mostCues = 64

    /// Makes an arrangement of no cues.
    public init() {}

    /// Gives the cues that are shown from now on with the places they are drawn at, which are no longer to be changed.
    ///
    /// - Parameter cues: All cues of one moment, those that began first in front.
    /// - Returns: The cues with their places, in the same order.
    public mutating func arrange(_ cues: [SubtitleCue]) -> [SubtitleCue] {
        let cues = cues.prefix(Self.mostCues)
        let known = places
        places.removeAll(keepingCapacity: true)
        var boxes: [SubtitleBox] = []
        var result = flowing(cues)
        for cue in result where cue.placement.stacking != .avoids { boxes.append(SubtitleBox(cue)) }
        for (index, cue) in cues.enumerated() {
            guard cue.placement.stacking == .avoids, let place = known[cue] else { continue }
            result[index].placement.verticalPosition = place
            boxes.append(SubtitleBox(result[index]))
            places[cue] = place
        }
        for (index, cue) in cues.enumerated() where cue.placement.stacking == .avoids && known[cue] == nil {
            if cue.placement.writing == .horizontal {
                let distance = Self.distance(for: SubtitleBox(cue), boxes)
                result[index].placement.verticalPosition += distance
            }
            boxes.append(SubtitleBox(result[index]))
            places[cue] = result[index].placement.verticalPosition
        }
        for index in result.indices { result[index].placement.stacking = .none }
        return result
    }

    /// How far a box has to move to stand alone: upwards if there is room, else downwards, else not at all.
    private static func distance(for box: SubtitleBox, _ others: [SubtitleBox]) -> Double {
        var moved = box
        while let other = others.first(where: { $0.covers(moved) }) {
            moved = moved.moved(by: other.top - moved.bottom)
            if moved.top < 0 { break }
        }
        if moved.top >= 0 || moved.top == box.top { return moved.top - box.top }
        moved = box
        while let other = others.first(where: { $0.covers(moved) }) {
            moved = moved.moved(by: other.bottom - moved.top)
            if moved.bottom > 100 { return 0 }
        }
        return moved.top - box.top
    }

    /// Puts the cues of each region below one another.
    private func flowing(_ cues: ArraySlice<SubtitleCue>) -> [SubtitleCue] {
        var result = Array(cues)
        var regions: [String: [Int]] = [:]
        for (index, cue) in result.enumerated() {
            if case .flows(let region) = cue.placement.stacking { regions[region, default: []].append(index) }
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
