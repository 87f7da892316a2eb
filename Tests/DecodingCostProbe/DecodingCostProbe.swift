import CostOperations
import DecodingFuzzTargets
import FuzzTargets

/// A program that runs the operations of the demultiplexers and of the decryption of samples; see ``CostProbing``.
@main enum DecodingCostProbe {
    static func main() throws { try CostProbing.run(CostOperation.packets) }
}

extension CostOperation {
    /// The operations of every fuzz target of the demultiplexers, on the worst shapes of its formats.
    static var packets: [CostOperation] {
        let shapes = InputShape.movies + InputShape.transportStreams + InputShape.packedAudio + InputShape.encrypted
        return shapes.map { shape in
            CostOperation("packets/\(shape.reader)/\(shape.name)", size: shape.size) { count in
                guard let target = FuzzTarget.decoding.first(where: { $0.name == shape.reader }) else {
                    fatalError("there is no reader \(shape.reader)")
                }
                let bytes = shape.bytes(count)
                return { target.run(bytes) }
            }
        }
    }
}
