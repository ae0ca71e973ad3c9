import { Controller, Get, Header, Inject } from '@nestjs/common';
import { FLOOR_SECONDS } from '../config.js';
import { openApiDocument } from './document.js';

/** Returns the OpenAPI description of the interface. Callers need no key. */
@Controller('v1/openapi.json')
export class OpenApiController {
  private readonly text: string;

  constructor(@Inject(FLOOR_SECONDS) floorSeconds: number | undefined) {
    this.text = JSON.stringify(openApiDocument(floorSeconds));
  }

  @Get()
  @Header('content-type', 'application/json; charset=utf-8')
  read(): string {
    return this.text;
  }
}
